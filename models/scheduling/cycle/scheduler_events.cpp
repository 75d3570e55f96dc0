// How the scheduler handles events of pods, jobs and nodes.
#include <algorithm>
#include <utility>

#include "models/scheduling/cycle/scheduler.hpp"
#include "sim/core/check.hpp"

namespace orrery {

void Scheduler::wire() {
  controller_.pods_created.connect([this](std::span<const PodId> pods) { pods_created(pods); });
  controller_.pod_removed.connect([this](PodId pod) { pod_removed(pod); });
  controller_.end_observed.connect([this](PodId pod) { end_observed(pod); });
  controller_.job_over.connect([this](JobId job) { job_over(job); });
  parts_.binder.bound.connect([this](PodId) {
    ++counters_.pods_scheduled;
    attempts_in_vain_ = 0;
    rounds_.interrupted();
  });
  parts_.binder.failed.connect([this] { kick(); });
  parts_.reservations.timed_out.connect([this] {
    counters_.permit_timeouts += static_cast<uint64_t>(rounds_.factor());
    kick();
  });
  parts_.evictions.made_room.connect([this](PodId preemptor) { made_room(preemptor); });
  parts_.evictions.resumed.connect([this] {
    const Time now = sim_.engine.now();
    if (busy_until_ < now) {  // the wait for responses counts as busy time
      counters_.busy += now - busy_until_;
      busy_until_ = now;
    }
    kick();
  });
  parts_.preemptions.withdrawn.connect([this](PodId pod) {
    parts_.line.unblock();
    parts_.line.queue().activate(parts_.line.unit_of(pod), sim_.engine.now());
    kick();
  });
}

void Scheduler::made_room(PodId preemptor) {
  rounds_.interrupted();
  parts_.line.unblock();
  parts_.line.queue().let_go(parts_.line.unit_of(preemptor));
  // While the queue held the preemptor, deletions of victims did not requeue it. If a pod is still
  // leaving the nominated node, the deletion of this pod will requeue the preemptor. Otherwise a
  // deletion event, posted here, requeues it.
  std::vector<PlacedPod> there;
  const NodeId node = parts_.preemptions.nominated_node(preemptor);
  if (node.is_valid()) parts_.preemptions.placed_on(node, there);
  if (std::ranges::none_of(there, &PlacedPod::is_leaving)) {
    parts_.line.post({ClusterEventKind::AssignedPodDeleted, node, jobs_.pod(preemptor).spec, {}});
  }
  kick();
}

void Scheduler::pods_created(std::span<const PodId> pods) {
  attempts_in_vain_ = 0;
  rounds_.interrupted();
  SchedulingQueue& queue = parts_.line.queue();
  for (const PodId pod : pods) {
    parts_.tracks.created(pod);
    const PodId unit = parts_.line.unit_of(pod);
    if (queue.place(unit) == SchedulingQueue::Place::None) {
      queue.remove(unit);  // removes the record of the unit's previous pods
    }
    parts_.line.enqueue(pod);
  }
  if (!pods.empty()) {
    const Pod& last = jobs_.pod(pods.back());
    parts_.line.post({ClusterEventKind::UnscheduledPodAdded, {}, last.spec, last.gang});
  }
  parts_.line.unblock();  // the new pod may sort before the unit that blocks the queue
  kick();
}

// A pod without a binding leaves the scheduler at once. A bound pod stays in Placements and in the
// cluster state until end_observed().
void Scheduler::pod_removed(PodId pod) {
  rounds_.interrupted();
  const Pod& p = jobs_.pod(pod);
  PodTrack& t = parts_.tracks.of(pod);
  if (t.stage == PodStage::Bound) {
    t.stage = PodStage::None;
    return controller_.pod_unassigned.emit(pod, parts_.placements.node_of(pod));
  }
  if (t.stage != PodStage::None) {
    if (t.stage != PodStage::Queued) parts_.reservations.undo(pod, {}, std::nullopt);
    parts_.tracks.no_longer_pending(pod);
    parts_.line.leave(pod);
  }
  parts_.tracks.of(pod).stage = PodStage::None;
  const NodeId kept_for_it = parts_.preemptions.nominated_node(pod);
  parts_.evictions.forget(pod);
  parts_.preemptions.clear(pod);
  if (kept_for_it.is_valid()) {
    parts_.line.post({ClusterEventKind::AssignedPodDeleted, kept_for_it, p.spec, {}});
  }
  parts_.line.unblock();  // the pod may be the unit that blocks the queue
  kick();
}

void Scheduler::end_observed(PodId pod) {
  const Pod& p = jobs_.pod(pod);
  const NodeId node = parts_.placements.node_of(pod);
  rounds_.interrupted();
  parts_.placements.remove(pod);
  parts_.line.post({ClusterEventKind::AssignedPodDeleted, node, p.spec, p.gang});
  parts_.evictions.forget(pod);
  parts_.line.unblock();
  kick();
}

// Ids of gangs are reused, so the state of the job's gangs is cleared.
void Scheduler::job_over(JobId id) {
  const Job& job = jobs_.job(id);
  for (int32_t i = 0; i < job.gangs; ++i) {
    const GangId gang{job.first_gang.index + static_cast<uint32_t>(i)};
    GangTrack& t = parts_.tracks.of(gang);
    ORRERY_CHECK(t.pending == 0 && t.assumed == 0, "a job that is over has no pods");
    t = GangTrack{};
    framework().gang_over(gang);
  }
}

void Scheduler::post_and_kick(const ClusterEvent& event) {
  rounds_.interrupted();
  parts_.line.post(event);
  kick();
}

void Scheduler::connect(NodeNews& news) {
  news.node_down.connect([this](NodeId node, NodeReason) { node_down(node); });
  news.node_up.connect(*this, &Scheduler::node_up);
  news.node_updated.connect(*this, &Scheduler::node_changed);
}

void Scheduler::node_down(NodeId node) {
  parts_.reservations.node_failed(node);
  post_and_kick({ClusterEventKind::NodeChanged, node, {}, {}});
}

void Scheduler::node_up(NodeId node) { post_and_kick({ClusterEventKind::NodeAdded, node, {}, {}}); }

void Scheduler::node_changed(NodeId node) {
  post_and_kick({ClusterEventKind::NodeChanged, node, {}, {}});
}

// ---- change of profile

void Scheduler::change_profile(const ProfileParams& profile) {
  ORRERY_CHECK(!is_running_, "a profile changes between two cycles");
  ORRERY_CHECK(
      parts_.profile.driver != Driver::Counting && resolve_driver(profile) != Driver::Counting,
      "scenarios are checked before the run");
  ORRERY_MARK("scheduling.profile_changed");
  parts_.reservations.undo_all("the scheduler was restarted");
  parts_.binder.forget();  // open bind requests have no effect: their reservations are undone
  parts_.profile.use(profile, parts_.services, parts_.preemptions.nominations());
  parts_.line.start_over(profile.queue);
  parts_.preemptions.clear_all();
  parts_.evictions.restart();
  asks_next_ = false;
  attempts_in_vain_ = 0;
  rounds_.interrupted();
  take_in_all();
  kick();
}

// Requeues all unbound pods in order of creation. Bound pods stay in Placements.
void Scheduler::take_in_all() {
  for (GangTrack& gang : parts_.tracks.gangs()) {
    gang.waiting.clear();
    gang.tentative = gang.gated = 0;
    gang.last_failure = Time{-1};
    gang.backoff_until = {};
  }
  std::vector<PodId> pending;
  jobs_.for_each_job([&](JobId id) {
    const Job& job = jobs_.job(id);
    JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId pod) {
      if (parts_.tracks.stage(pod) == PodStage::Queued) pending.push_back(pod);
    });
  });
  std::ranges::sort(pending, {}, [this](PodId pod) {
    return std::pair{jobs_.pod(pod).created, pod.index};
  });
  for (const PodId pod : pending) {
    parts_.tracks.of(pod).waits_for = 0;
    parts_.line.enqueue(pod);
  }
}

}  // namespace orrery
