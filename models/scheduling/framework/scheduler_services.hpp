// models/scheduling/framework/scheduler_services.hpp -- what the framework needs of the scheduler.
#pragma once

#include "models/scheduling/contract/command.hpp"
#include "models/scheduling/contract/scheduler_view.hpp"

namespace orrery {

class SchedulerServices : public SchedulerView {
 public:
  // A command of a policy, after the point that gave it has returned. What it leads to comes
  // before what it gives to `later`.
  virtual void carry_out(const PolicyCommand& command, CommandSink& later) = 0;
};

}  // namespace orrery
