// models/scheduling/cycle/active_profile.hpp -- the current profile and its framework.
#pragma once

#include <memory>

#include "models/scheduling/framework/framework.hpp"

namespace orrery {

struct ActiveProfile {
  Driver driver = Driver::PerPod;
  HeadOfLine head_of_line = HeadOfLine::Skip;
  SchedulerCost cost;
  std::unique_ptr<Framework> framework;

  void use(const ProfileParams& profile, SchedulerServices& services,
           const Nominations& nominations) {
    driver = resolve_driver(profile);
    head_of_line = profile.queue.head_of_line;
    cost = profile.cost;
    framework = std::make_unique<Framework>(services, nominations, profile);
  }
};

}  // namespace orrery
