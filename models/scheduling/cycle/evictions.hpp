// models/scheduling/cycle/evictions.hpp -- deletes victims of preemption.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "models/scheduling/contract/placements.hpp"
#include "models/scheduling/cycle/scheduler_rows.hpp"
#include "models/workload/job/pod_api.hpp"
#include "models/workload/lifecycle/job_controller.hpp"
#include "sim/engine/signal.hpp"
#include "sim/record/channel.hpp"
#include "sim/runtime/sim.hpp"

namespace orrery {

struct EvictionOrder {
  Time due;
  PodId preemptor, victim;
  // Generations of the pods. A recreated pod has another generation.
  uint64_t preemptor_life = 0, victim_life = 0;
  uint64_t by_job = 0;  // serial of the preemptor's job
  int32_t by_rank = 0, by_priority = 0, by_job_priority = 0;
  bool waits = false;
  uint32_t restart = 0;  // number of scheduler restarts before the order
};

class Evictions {
 public:
  Evictions(Sim sim, JobTable& jobs, JobController& controller, const Placements& placements);

  void use(PodApi& api) { api_ = &api; }  // pods are deleted through the API; without it, at once

  // Orders the deletion of the victims, so that the preemptor fits. `waits`: no other pod is tried
  // before the API servers have responded to all these deletions.
  void evict(PodId preemptor, std::span<const PodId> victims, bool waits);
  // The deletions that the running cycle ordered begin at `when`, the end of the cycle.
  void carry_out(Time when);
  void forget(PodId pod);  // the pod was deleted
  void placed(PodId pod);  // the pod got a node
  // Called when the scheduler restarts with another profile. Orders that are not carried out yet
  // are dropped. Deletions already sent to the API servers continue, but no preemptor waits for
  // their responses.
  void restart();

  bool is_leaving(PodId pod) const { return pod.index < pods_.size() && pods_[pod.index].leaves; }
  // Whether the preemptor has a victim whose deletion has no response yet.
  bool is_asking(PodId preemptor) const {
    return preemptor.index < pods_.size() && pods_[preemptor.index].unanswered > 0;
  }
  // Whether a deletion is ordered but not sent yet, or was sent and has no response yet.
  bool is_under_way() const { return !orders_.empty() || asked_ > 0; }
  // Whether a deletion ordered with `waits` has no response yet. If so, no pod is tried.
  bool is_awaited() const { return awaited_ > 0; }
  uint64_t victims() const { return victims_; }  // number of victims so far

  // Emitted for each victim before its deletion is ordered. If the victim waits in Permit, the
  // observer undoes the victim's reservation and requeues the victim, and no deletion is ordered.
  Signal<PodId> victim_waits;
  Signal<> resumed;              // all awaited responses have arrived, or restart() ended the wait
  Signal<PodId> made_room;       // all deletions of this preemptor's victims have responses
  Signal<PodId, PodId> refused;  // (victim, preemptor): the API refused to delete the victim

 private:
  struct PodRecord {
    bool leaves = false;
    uint32_t unanswered = 0;  // deletions for this pod without a response
  };
  PodRecord& record_of(PodId pod);
  uint64_t life(PodId pod) const { return jobs_.pod(pod).generation; }
  bool is_there(const EvictionOrder& order) const;
  void carry_out_due();
  void answered(const EvictionOrder& order, PodApi::Creation news);
  void answered(const EvictionOrder& order);
  void preempt(const EvictionOrder& order);
  void write(const EvictionOrder& order);

  Sim sim_;
  JobTable& jobs_;
  JobController& controller_;
  const Placements& placements_;
  PodApi* api_ = nullptr;
  std::vector<PodRecord> pods_;  // by PodId
  uint64_t victims_ = 0, awaited_ = 0;
  uint64_t asked_ = 0;  // deletions sent to the API servers and not answered yet
  uint32_t restarts_ = 0;
  std::deque<EvictionOrder> orders_;  // orders of the running cycle are last, without `due`
  size_t undated_ = 0;
  Channel<PreemptionRow> rows_;
};

}  // namespace orrery
