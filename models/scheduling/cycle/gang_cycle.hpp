// models/scheduling/cycle/gang_cycle.hpp -- the cycle of a whole gang (driver: per_gang).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/scheduling/cycle/binder.hpp"
#include "models/scheduling/cycle/failed_attempts.hpp"
#include "models/scheduling/cycle/scheduler_counters.hpp"

namespace orrery {

struct PlacedMember {
  PodId pod;
  NodeId node;
  DeviceGrant grant;
};

// What placing a gang in one domain came to. Its placements are undone: the best one is made anew.
struct GangAttempt {
  std::vector<PlacedMember> placed;
  Selection why;                             // of the first member without a node
  PodId failed;                              // that member; invalid: all have nodes
  std::optional<Candidates> diagnosis = {};  // of that member, as it failed
  uint32_t visited = 0;
  Duration charged;  // by plugins, once for alike members
};

// As Kubernetes 1.36's pod-group cycle: every member goes through the normal algorithm on one
// world, members without a node are passed over, and the group succeeds if Permit then says Success
// for some member. A gang is kept as it was placed, or none of it is.
class GangCycle {
 public:
  struct Context {
    const Sim sim;
    const ClusterState& cluster;
    JobTable& jobs;
    PodTracks& tracks;
    Transaction& transaction;
    const ActiveProfile& profile;
    Reservations& reservations;
    Binder& binder;
    FailedAttempts& failures;
    AttemptLog& log;
    SchedulerCounters& counters;
  };
  explicit GangCycle(const Context& context) : context_{context} {}

  // The scheduler time that it takes. Of a pod without a gang, as a gang of one.
  Duration run(PodId unit, GangId gang);

 private:
  struct Best {
    GangAttempt attempt;
    int64_t score = -1;  // negative: Permit rejects it
    Duration cost;       // of all domains
  };
  std::vector<PodId> members_of(PodId unit, GangId gang) const;
  std::vector<PodId> needed_first(const Gang& gang, const std::vector<PodId>& members) const;
  GangView view_of(PodId unit, GangId gang) const;
  void count_tentative(GangId gang, int32_t members) const;
  Framework& framework() const { return *context_.profile.framework; }
  Cycle cycle_of(const Cycle& cycle, const PodView& pod) const {
    return {cycle.now, cycle.cluster, pod, cycle.state};
  }
  Best attempt(const Cycle& cycle, const GangView& gang, std::span<const PodId> members,
               std::span<const GangDomain> domains);
  GangAttempt too_small(const Cycle& cycle, const NodeSet* nodes, bool is_first) const;
  GangAttempt place(const Cycle& cycle, GangId gang, std::span<const PodId> members,
                    const NodeSet* nodes);
  bool place_member(const Cycle& cycle, GangId gang, const NodeSet* nodes, bool is_counted,
                    GangAttempt& attempt);
  bool is_permitted(const Cycle& cycle, GangAttempt& attempt);
  int64_t score(const Cycle& cycle, const GangView& gang, GangAttempt& attempt);
  Duration keep_all(PodId unit, const Cycle& cycle, const GangView& before, Best& best);
  bool keep(const Cycle& cycle, const PlacedMember& member, GangAttempt& attempt);

  Context context_;
};

}  // namespace orrery
