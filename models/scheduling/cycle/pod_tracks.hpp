// models/scheduling/cycle/pod_tracks.hpp -- the stage of each pod in the scheduler, and the views
// of pods and gangs that policies see.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/scheduling/contract/placements.hpp"
#include "models/scheduling/contract/policy_types.hpp"
#include "models/workload/job/job_table.hpp"
#include "sim/engine/event.hpp"

namespace orrery {

enum class PodStage : uint8_t { None, Queued, Waiting, Binding, Bound };

struct PodTrack {
  PodStage stage = PodStage::None;
  uint32_t waits_for = 0;  // set of the Permit plugins that still make the pod wait
  EventId timeout;
  // Serial number of the pod's latest reservation. Bindings for earlier reservations are dropped.
  uint64_t reservation = 0;
  uint32_t assumed_slot = 0;  // index of the pod in Reservations::assumed_
  bool was_attempted = false;
  Time initial_attempt;
};

struct GangTrack {
  std::vector<PodId> waiting;  // pods waiting in Permit, longest first
  int32_t tentative = 0;       // members placed tentatively by the running attempt of the gang
  int32_t assumed = 0;         // members that wait in Permit or are being bound
  int32_t gated = 0;
  int32_t pending = 0;  // members that exist and are not bound
  Time last_failure = Time{-1}, backoff_until;
};

class PodTracks {
 public:
  PodTracks(JobTable& jobs, const Placements& placements) : jobs_{jobs}, placements_{placements} {}

  PodTrack& of(PodId pod);
  GangTrack& of(GangId gang);
  PodStage stage(PodId pod) const {
    return pod.index < pods_.size() ? pods_[pod.index].stage : PodStage::None;
  }
  std::span<GangTrack> gangs() { return gangs_; }

  // ---- events of single pods
  void created(PodId pod);
  void no_longer_pending(PodId pod);  // the pod was bound, or deleted while unbound
  size_t pods_pending() const { return pending_pods_; }
  size_t gangs_pending() const { return pending_gangs_; }
  size_t pods_waiting = 0;  // pods that wait in Permit

  // ---- views
  PodView pod(PodId id) const;
  GangView gang(GangId id) const;
  // How many more pods of the role must get a node until the role has its minimum.
  int32_t missing(RoleId role) const;
  std::span<const PodId> waiting(GangId gang) const;
  Time last_failure(GangId gang) const { return gangs_[gang.index].last_failure; }
  // The gang of the pod for which Permit plugins run now; invalid: Permit does not run, or the pod
  // has no gang. gang() does not count this pod in `waiting`, `binding` and `bound`.
  GangId permitting;

 private:
  RolesMissing roles_missing(const Gang& gang) const;

  JobTable& jobs_;
  const Placements& placements_;
  std::vector<PodTrack> pods_;
  std::vector<GangTrack> gangs_;
  size_t pending_pods_ = 0, pending_gangs_ = 0;
};

}  // namespace orrery
