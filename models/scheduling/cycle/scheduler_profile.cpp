// What a profile decides, and another one in its place while the run goes on.
#include <algorithm>
#include <utility>

#include "models/scheduling/cycle/scheduler.hpp"
#include "sim/core/check.hpp"

namespace orrery {

SchedulingQueue Scheduler::make_queue(const QueueParams& params) {
  return {params,
          [this](const QueuedUnit& a, const QueuedUnit& b) {
            return framework_->queue_sort().call(&QueueSort::less, a, b);
          },
          [this](uint8_t plugin, PodId id, const ClusterEvent& event) {
            return framework_->hint(plugin, pod(id), event);
          },
          [this](GangId gang) { return gangs_[gang.index].last_failure; }};
}

void Scheduler::wire_preemptions() {
  preemptions_.use(*framework_);
  preemptions_.victim_waits.connect([this](PodId victim) {
    turn_away(victim, "preempted by a pod of higher priority", AttemptOutcome::Rejected);
  });
  preemptions_.resumed.connect([this] {
    if (busy_until_ < now()) {  // the cycle has waited until now
      counters_.busy += now() - busy_until_;
      busy_until_ = now();
    }
    kick();
  });
  preemptions_.withdrawn.connect([this](PodId pod) {
    is_blocked_ = false;  // the head of the queue may try again
    queue_.activate(unit_of(pod), now());
    kick();
  });
  preemptions_.made_room.connect([this](PodId preemptor) {
    is_blocked_ = false;
    queue_.let_go(unit_of(preemptor));
    // Of what ended before all was answered it heard nothing.
    std::vector<PlacedPod> there;
    const NodeId node = preemptions_.nominated_node(preemptor);
    if (node.is_valid()) preemptions_.placed_on(node, there);
    if (std::ranges::none_of(there, &PlacedPod::is_leaving)) {
      post({ClusterEventKind::AssignedPodDeleted, node, jobs_.pod(preemptor).spec, {}});
    }
    kick();
  });
}

void Scheduler::change_profile(const ProfileParams& profile) {
  ORRERY_CHECK(!is_running_, "a profile changes between two cycles");
  ORRERY_CHECK(driver_ != Driver::Counting && resolve_driver(profile) != Driver::Counting,
               "scenarios are checked before the run");
  ORRERY_MARK("scheduling.profile_changed");
  give_up_reservations();
  driver_ = resolve_driver(profile);
  head_of_line_ = profile.queue.head_of_line;
  cost_ = profile.cost;
  queue_ = make_queue(profile.queue);
  framework_ = std::make_unique<Framework>(static_cast<Handle&>(*this), profile);
  preemptions_.forget_nominations();
  preemptions_.use(*framework_);
  events_.clear();
  is_blocked_ = asks_next_ = false;
  attempts_in_vain_ = 0;
  take_in_all();
  kick();
}

// Of pods that wait in Permit or are being bound; a bind that is under way finds its reservation
// gone.
void Scheduler::give_up_reservations() {
  while (!assumed_.empty()) {
    unassume(assumed_.back(), "the scheduler was restarted", AttemptOutcome::Error);
  }
  binding_.clear();
}

// The new plugins learn of bound pods as of any other, and the rest stands in line again.
void Scheduler::take_in_all() {
  for (GangTrack& gang : gangs_) {
    gang.waiting.clear();
    gang.tentative = gang.gated = 0;
    gang.last_failure = Time{-1};
    gang.backoff_until = {};
  }
  std::vector<PodId> pending;
  jobs_.for_each_job([&](JobId id) {
    const Job& job = jobs_.job(id);
    JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId pod) {
      const Stage stage = pod.index < pods_.size() ? pods_[pod.index].stage : Stage::None;
      if (stage == Stage::Queued) pending.push_back(pod);
      if (stage != Stage::Bound) return;
      const PodView view = this->pod(pod);
      const Cycle cycle{now(), cluster_, view};
      for (const auto& reserve : framework_->reserve()) {
        current_plugin_ = reserve.index;
        // It has its node already.
        (void)reserve.call(&Reserve::reserve, cycle, pods_[pod.index].node);
      }
    });
  });
  std::ranges::sort(pending, {}, [this](PodId pod) {
    return std::pair{jobs_.pod(pod).created, pod.index};
  });
  for (const PodId pod : pending) {
    pods_[pod.index].waits_for = 0;
    enqueue(pod);
  }
}

}  // namespace orrery
