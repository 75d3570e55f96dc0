// models/scheduling/framework/scheduler_services.hpp -- carries out commands of policies.
#pragma once

#include "models/scheduling/contract/command.hpp"
#include "models/scheduling/contract/scheduler_view.hpp"

namespace orrery {

class SchedulerServices : public SchedulerView {
 public:
  // Carries out a command of a policy. The extension point in which the policy gave the command
  // must have returned. An Evict deletes only its first victim. The other victims are given to
  // `later` as a new Evict, which is carried out after commands that policies gave meanwhile.
  virtual void carry_out(const PolicyCommand& command, CommandSink& later) = 0;
};

}  // namespace orrery
