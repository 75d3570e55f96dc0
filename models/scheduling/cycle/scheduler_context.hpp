// models/scheduling/cycle/scheduler_context.hpp -- shared state and counters of the parts of a
// scheduler.
#pragma once

#include <cstdint>

#include "models/hardware/cluster_state.hpp"
#include "models/workload/job/job_table.hpp"
#include "sim/runtime/sim.hpp"

namespace orrery {

class AttemptLog;
class Binder;
class Evictions;
class FailedAttempts;
class JobController;
class Placements;
class PodTracks;
class Preemptions;
class Reservations;
class Transaction;
class UnitLine;
struct ActiveProfile;
struct PodNews;

// What the parts of a scheduler share. Each scheduler has one such object, which outlives the
// parts. While a part is constructed, it may use only the parts that SchedulerParts declares before
// it.
struct SchedulerContext {
  Sim sim;
  ClusterState& cluster;
  JobTable& jobs;
  JobController& controller;
  PodNews& news;
  PodTracks& tracks;
  Placements& placements;
  Transaction& transaction;
  const ActiveProfile& profile;
  Evictions& evictions;
  Preemptions& preemptions;
  UnitLine& line;
  AttemptLog& log;
  Reservations& reservations;
  Binder& binder;
  FailedAttempts& failures;
};

struct SchedulerCounters {
  uint64_t attempts = 0;  // cycles of pods or gangs
  uint64_t pods_scheduled = 0;
  uint64_t permit_timeouts = 0;
  uint64_t nodes_visited = 0;
  Duration busy;  // scheduler time charged
};

}  // namespace orrery
