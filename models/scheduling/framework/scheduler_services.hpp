// models/scheduling/framework/scheduler_services.hpp -- services of the scheduler to the framework.
#pragma once

#include "models/scheduling/contract/command.hpp"
#include "models/scheduling/contract/scheduler_view.hpp"

namespace orrery {

class SchedulerServices : public SchedulerView {
 public:
  // Carries out a command of a policy, after the point that gave it has returned. An Evict deletes
  // only its first victim. A new Evict with the other victims is given to `later`, which carries it
  // out after commands that policies gave meanwhile.
  virtual void carry_out(const PolicyCommand& command, CommandSink& later) = 0;
};

}  // namespace orrery
