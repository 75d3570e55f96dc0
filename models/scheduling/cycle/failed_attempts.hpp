// models/scheduling/cycle/failed_attempts.hpp -- PostFilter, and the requeue of a unit after a
// failed attempt.
#pragma once

#include "models/scheduling/cycle/reservations.hpp"

namespace orrery {

class FailedAttempts {
 public:
  explicit FailedAttempts(const SchedulerContext& context) : context_{context} {}
  void use(PodApi& api) { api_ = &api; }

  // Whether PostFilter or the log needs the reasons node by node, which cost more than the attempt.
  bool needs_diagnosis(const Cycle& cycle, const Selection& why) const;
  Candidates diagnose(const Cycle& cycle) const;
  // Runs PostFilter, then requeues the unit. `cycle` is of the pod blamed for the failure of
  // `unit`. Returns the scheduler time of PostFilter.
  Duration fail(PodId unit, const Cycle& cycle, const Selection& why, const Candidates* diagnosis);
  // A node was found, but Reserve or Permit rejected the pod.
  void reject(PodId pod, Time now, const Selection& why);

 private:
  void back_to_queue(PodId unit, PodId pod, Time now, const Selection& why);
  void tell(PodId unit);

  const SchedulerContext& context_;
  PodApi* api_ = nullptr;
};

}  // namespace orrery
