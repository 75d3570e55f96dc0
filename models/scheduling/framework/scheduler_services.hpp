// models/scheduling/framework/scheduler_services.hpp -- services of the scheduler to the framework.
#pragma once

#include "models/scheduling/contract/command.hpp"
#include "models/scheduling/contract/scheduler_view.hpp"

namespace orrery {

class SchedulerServices : public SchedulerView {
 public:
  // Carries out a command of a policy, after the point that gave it has returned. Of an Evict, only
  // the first victim is evicted. An Evict of the others goes to `later`, behind commands that
  // policies gave meanwhile.
  virtual void carry_out(const PolicyCommand& command, CommandSink& later) = 0;
};

}  // namespace orrery
