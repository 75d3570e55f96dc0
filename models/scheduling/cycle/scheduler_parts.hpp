// models/scheduling/cycle/scheduler_parts.hpp -- the parts of a scheduler, and how they are wired.
#pragma once

#include "models/scheduling/cycle/binder.hpp"
#include "models/scheduling/cycle/failed_attempts.hpp"
#include "models/scheduling/cycle/policy_services.hpp"
#include "models/scheduling/cycle/scheduler_context.hpp"

namespace orrery {

// While a part is constructed, it may use only the parts that are declared before it.
struct SchedulerParts {
  SchedulerParts(Sim sim, ClusterState& cluster, JobTable& jobs, JobController& controller,
                 const ProfileParams& params, bool record_attempts,
                 const Fragmentation* fragmentation);
  SchedulerParts(const SchedulerParts&) = delete;
  SchedulerParts& operator=(const SchedulerParts&) = delete;
  // Destroys policies before the parts that they see.
  ~SchedulerParts() { profile.framework.reset(); }

  void use(PodApi& api);

  const SchedulerContext context;
  Placements placements;
  PodTracks tracks;
  Transaction transaction;
  ActiveProfile profile;
  Evictions evictions;
  Preemptions preemptions;
  UnitLine line;
  AttemptLog log;
  Reservations reservations;
  Binder binder;
  FailedAttempts failures;
  PolicyServices services;
};

}  // namespace orrery
