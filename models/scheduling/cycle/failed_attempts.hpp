// models/scheduling/cycle/failed_attempts.hpp -- PostFilter, and the requeue of a unit after a
// failed attempt.
#pragma once

#include "models/scheduling/cycle/reservations.hpp"

namespace orrery {

class FailedAttempts {
 public:
  explicit FailedAttempts(const SchedulerContext& context) : context_{context} {}
  void use(PodApi& api) { api_ = &api; }

  // Whether PostFilter or the log needs a diagnosis, which says why each node was rejected. A
  // diagnosis takes more host time than the attempt.
  bool needs_diagnosis(const Cycle& cycle, const Selection& why) const;
  Candidates diagnose(const Cycle& cycle) const;
  // Runs PostFilter, then requeues the unit. With head_of_line: block, the unit blocks the queue
  // instead, unless the failure is an Error. `cycle.pod`, a pod of the unit, is blamed for the
  // failure. Returns the scheduler time of PostFilter.
  Duration fail(PodId unit, const Cycle& cycle, const Selection& why, const Candidates* diagnosis);
  // Requeues a pod that got a node but was rejected by Reserve or Permit.
  void reject(PodId pod, Time now, const Selection& why);

 private:
  void back_to_queue(PodId unit, PodId pod, Time now, const Selection& why);
  void tell(PodId unit);

  const SchedulerContext& context_;
  PodApi* api_ = nullptr;
};

}  // namespace orrery
