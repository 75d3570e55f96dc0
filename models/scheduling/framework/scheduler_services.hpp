// models/scheduling/framework/scheduler_services.hpp -- services of the scheduler to the framework.
#pragma once

#include "models/scheduling/contract/command.hpp"
#include "models/scheduling/contract/scheduler_view.hpp"

namespace orrery {

class SchedulerServices : public SchedulerView {
 public:
  // Carries out a command of a policy, after the point that gave it has returned. Only the first
  // step may be carried out; the other steps then go to `later`, behind commands that policies gave
  // meanwhile. Example: an Evict of three victims evicts one and gives an Evict of the other two.
  virtual void carry_out(const PolicyCommand& command, CommandSink& later) = 0;
};

}  // namespace orrery
