// models/scheduling/cycle/gang_cycle.hpp -- the cycle of a whole gang (policy.driver: per_gang).
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

// The result of trying to place a gang in one domain. The placements are undone after the try.
// keep_all() later reserves the placements of the best attempt.
struct GangAttempt {
  std::vector<PlacedMember> placed;
  Selection why;  // why `failed` has no node
  PodId failed;   // the first member without a node; invalid: all members have one
  std::optional<Candidates> diagnosis = {};  // the diagnosis of `failed` when it found no node
  // Of the members with the same spec, only the first adds to `visited` and `charged`.
  uint32_t visited = 0;  // nodes that the filters examined
  Duration charged;      // scheduler time of Charges plugins
};

// Like the pod-group cycle of Kubernetes 1.36: every member goes through the normal algorithm on
// one snapshot, and members without a node are skipped. The gang is scheduled if Permit then
// returns Success for a member. Otherwise no member is reserved. Example: 7 of 8 members get nodes.
// With min_available 7 all seven are bound and the eighth is requeued. With min_available 8 the
// placements are undone and the gang is requeued.
class GangCycle final : public GangWhatIfs {
 public:
  GangCycle(const SchedulerContext& context, SchedulerCounters& counters)
      : context_{context}, counters_{counters} {}

  // Returns the scheduler time of the cycle. A pod without a gang is a gang of one. The cycle
  // stands for `counts` equal attempts (see RetryRounds).
  Duration run(PodId unit, GangId gang, int64_t counts);
  // A what-if that attempts the gang of the running cycle again; see gang_trial.cpp.
  std::unique_ptr<GangWhatIf> gang_what_if(const Cycle& cycle) override;

 private:
  class Trial;
  struct Best {
    GangAttempt attempt;
    int64_t score = -1;  // negative: Permit accepted the gang in no domain
    Duration cost;       // scheduler time for all domains
  };
  struct Members {  // the pods of the unit that have no node
    std::vector<PodId> pods;
    SpecId spec;  // the spec of all `pods`, if are_alike
    bool are_alike = true;
    // Whether pods of the gang that do have a node are being evicted.
    bool do_others_leave = false;
  };
  struct Running {  // the unit whose attempt failed, while its PostFilter runs
    PodId unit;
    GangId gang;
    Members members;
  };
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
