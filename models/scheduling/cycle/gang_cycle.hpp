// models/scheduling/cycle/gang_cycle.hpp -- the cycle of a whole gang (driver: per_gang).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "models/scheduling/cycle/binder.hpp"
#include "models/scheduling/cycle/failed_attempts.hpp"
#include "models/scheduling/cycle/preemptions.hpp"
#include "models/scheduling/cycle/scheduler_context.hpp"

namespace orrery {

struct PlacedMember {
  PodId pod;
  NodeId node;
  DeviceGrant grant;
};

// The result of placing a gang in one domain. The placements are undone; the best attempt is then
// reserved.
struct GangAttempt {
  std::vector<PlacedMember> placed;
  Selection why;                             // of the first member without a node
  PodId failed;                              // that member; invalid: all have nodes
  std::optional<Candidates> diagnosis = {};  // of that member, as it failed
  uint32_t visited = 0;
  Duration charged;  // by plugins, once for alike members
};

// As Kubernetes 1.36's pod-group cycle: every member goes through the normal algorithm on one
// snapshot, members without a node are passed over, and the group succeeds if Permit then says
// Success for some member. Either all members that were placed are reserved, or none is.
class GangCycle final : public GangWhatIfs {
 public:
  GangCycle(const SchedulerContext& context, SchedulerCounters& counters)
      : context_{context}, counters_{counters} {}

  // Returns the scheduler time that the cycle takes. A pod without a gang is a gang of one. The
  // attempt stands for `counts` of them (see RetryRounds).
  Duration run(PodId unit, GangId gang, int64_t counts);
  // Attempts of the gang whose cycle runs, in a savepoint of their own: gang_trial.cpp.
  std::unique_ptr<GangWhatIf> gang_what_if(const Cycle& cycle) override;

 private:
  class Trial;
  struct Best {
    GangAttempt attempt;
    int64_t score = -1;  // negative: Permit rejects it
    Duration cost;       // of all domains
  };
  struct Members {  // of one attempt: the pods of the unit without a node
    std::vector<PodId> pods;
    SpecId spec;  // of the first one
    bool are_alike = true;
    bool do_others_leave = false;  // pods of the gang with a node that make room for others
  };
  struct Running {  // the attempt that has failed, while PostFilter runs
    PodId unit;
    GangId gang;
    Members members;
  };
  // Counts the attempt for each member.
  Members begin(PodId unit, GangId gang, int64_t counts);
  std::vector<PodId> needed_first(const Gang& gang, const std::vector<PodId>& members) const;
  GangView view_of(PodId unit, GangId gang) const;
  void count_tentative(GangId gang, int32_t members) const;
  Framework& framework() const { return *context_.profile.framework; }
  Cycle cycle_of(const Cycle& cycle, const PodView& pod) const {
    return {cycle.now, cycle.cluster, pod, cycle.state};
  }
  Duration wait_for_leaving(PodId unit, const Cycle& cycle) const;
  Best attempt(const Cycle& cycle, const GangView& gang, const Members& of_gang,
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

  const SchedulerContext& context_;
  SchedulerCounters& counters_;
  const Running* running_ = nullptr;
};

}  // namespace orrery
