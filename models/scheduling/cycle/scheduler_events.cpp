// What the scheduler hears from below and what it answers to policies.
#include <algorithm>

#include "models/scheduling/cycle/scheduler.hpp"
#include "sim/core/check.hpp"

namespace orrery {

PodView Scheduler::pod(PodId id) const {
  ORRERY_CHECK(id.index < jobs_.pods_bound(), "there is such a pod");
  const Pod& p = jobs_.pod(id);
  return {.id = id,
          .spec_id = p.spec,
          .spec = &jobs_.specs()[p.spec],
          .job = p.job,
          .gang = p.gang,
          .rank = p.rank,
          .attempts = p.attempts,
          .created = p.created};
}

GangView Scheduler::gang(GangId id) const {
  if (!id.is_valid()) return {};
  ORRERY_CHECK(id.index < jobs_.gangs_bound(), "there is such a gang");
  const Gang& g = jobs_.gang(id);
  const Job& job = jobs_.job(g.job);
  GangView view{.id = id,
                .job = g.job,
                .first = g.first,
                .first_of_job = job.first_gang,
                .gangs_of_job = job.gangs,
                .min_available = g.min_available,
                .pods = g.pods,
                .created = g.created,
                .gated = 0,
                .waiting = 0,
                .bound = g.bound,
                .binding = 0,
                .priority = job.priority,
                .created_at = g.created_at,
                .schedule_timeout = g.schedule_timeout,
                .last_failure = Time{-1},
                .backoff_until = {},
                .min_resources = g.min_resources ? &*g.min_resources : nullptr,
                .name = job.spec.name};
  if (id.index < gangs_.size()) {
    const GangTrack& t = gangs_[id.index];
    view.gated = t.gated;
    view.waiting = static_cast<int32_t>(t.waiting.size()) + t.tentative;
    view.binding = t.assumed - static_cast<int32_t>(t.waiting.size());
    if (permitting_ == id) --(t.tentative > 0 ? view.waiting : view.binding);
    view.bound += view.binding;
    view.last_failure = t.last_failure;
    view.backoff_until = t.backoff_until;
  }
  return view;
}

void Scheduler::allow_waiting(PodId pod) {
  PodTrack& t = track(pod);
  if (t.stage != Stage::Waiting) return;
  t.waits_for &= ~(uint32_t{1} << current_plugin_);
  if (t.waits_for != 0) return;  // another plugin still holds it
  stop_waiting(pod);
  to_binding(pod);
}

void Scheduler::reject_waiting(PodId pod, std::string_view reason) {
  turn_away(pod, reason, AttemptOutcome::Rejected);
}

void Scheduler::turn_away(PodId pod, std::string_view reason, AttemptOutcome outcome) {
  const PodTrack& t = track(pod);
  if (t.stage != Stage::Waiting) return;
  const uint32_t plugins = t.waits_for;
  unassume(pod, reason, outcome);
  requeue(pod, plugins);
  no_node_found.emit(unit_of(pod));
}

std::span<const PodId> Scheduler::waiting_pods(GangId gang) const {
  if (gang.index >= gangs_.size()) return {};
  return gangs_[gang.index].waiting;
}

void Scheduler::activate_siblings(PodId id) {
  const GangId gang = pod(id).gang;
  if (!gang.is_valid()) return;
  const Gang& g = jobs_.gang(gang);
  JobTable::for_each_pod(g.first, g.pods, [&](PodId sibling) {
    if (sibling != id) queue_.activate(unit_of(sibling), now());
  });
}

void Scheduler::set_gang_failure(GangId gang, Time failed_at, Time backoff_until) {
  GangTrack& t = track(gang);
  const bool is_earlier = failed_at < t.last_failure;
  t.last_failure = failed_at;
  t.backoff_until = backoff_until;
  if (!is_earlier) return;  // a later one is noticed when members get to the head of the queue
  const Gang& g = jobs_.gang(gang);
  JobTable::for_each_pod(g.first, g.pods,
                         [&](PodId member) { queue_.gang_recovered(unit_of(member)); });
}

void Scheduler::pods_created(std::span<const PodId> pods) {
  if (pods_.size() < jobs_.pods_bound()) pods_.resize(jobs_.pods_bound());
  attempts_in_vain_ = 0;
  for (const PodId pod : pods) {
    const GangId gang = jobs_.pod(pod).gang;
    if (gang.is_valid()) {
      if (track(gang).pending++ == 0) ++pending_gangs_;
    }
    ++pending_pods_;
    const PodId unit = unit_of(pod);
    if (queue_.place(unit) == SchedulingQueue::Place::None) {
      queue_.remove(unit);  // whatever an earlier life left behind
    }
    pods_[pod.index] = PodTrack{};
    pods_[pod.index].stage = Stage::Queued;
    enqueue(pod);
  }
  if (!pods.empty()) {
    const Pod& last = jobs_.pod(pods.back());
    post({ClusterEventKind::UnscheduledPodAdded, {}, last.spec, last.gang});
  }
  is_blocked_ = false;  // a new pod may sort before the head of the queue
  kick();
}

// Runs PreEnqueue; the pod (or its gang) goes to the active queue or is gated.
void Scheduler::enqueue(PodId pod) {
  const PodId unit = unit_of(pod);
  using Place = SchedulingQueue::Place;
  const Place place = queue_.place(unit);
  if (place != Place::None && place != Place::Gated) return;  // the gang stands in line already
  const PodView view = this->pod(pod);
  bool is_gated = false;
  for (const auto& p : framework_->pre_enqueue()) {
    current_plugin_ = p.index;
    if (p.call(&PreEnqueue::pre_enqueue, view).ok()) continue;
    is_gated = true;
    break;
  }
  if (is_gated && place == Place::Gated) return;
  QueuedUnit queued = queued_unit(pod);
  if (view.gang.is_valid()) track(view.gang).gated += is_gated ? 1 : place == Place::Gated ? -1 : 0;
  if (is_gated)
    queue_.gate(queued, view.spec_id);
  else
    queue_.add(queued, view.spec_id);
}

void Scheduler::pod_removed(PodId pod) {
  const Pod& p = jobs_.pod(pod);
  PodTrack& t = track(pod);
  if (t.stage == Stage::Bound) {
    const PodView view = this->pod(pod);
    for (const auto& watcher : framework_->pod_watchers()) {
      watcher.call(&PodWatcher::pod_gone, view);
    }
    pod_unassigned.emit(pod, t.node);
    post({ClusterEventKind::AssignedPodDeleted, t.node, p.spec, p.gang});
  } else if (t.stage != Stage::None) {
    if (t.stage == Stage::Waiting || t.stage == Stage::Binding) unassume(pod, {}, std::nullopt);
    GangTrack* const gang = p.gang.is_valid() ? &track(p.gang) : nullptr;
    if (gang != nullptr && --gang->pending == 0) --pending_gangs_;
    // A gang stands in line until its last pod has left, whichever that is.
    if (!is_gang_unit(pod) || gang->pending == 0) {
      const PodId unit = unit_of(pod);
      if (gang != nullptr && queue_.place(unit) == SchedulingQueue::Place::Gated) --gang->gated;
      queue_.remove(unit);
    }
    --pending_pods_;
  }
  pods_[pod.index].stage = Stage::None;
  const NodeId kept_for_it = preemptions_.nominated_node(pod);
  preemptions_.forget(pod);
  if (kept_for_it.is_valid()) post({ClusterEventKind::AssignedPodDeleted, kept_for_it, p.spec, {}});
  is_blocked_ = false;  // it may have been the head of the queue
  kick();
}

// A gang id is recycled: its track starts anew with the next job.
void Scheduler::job_over(JobId id) {
  const Job& job = jobs_.job(id);
  for (int32_t i = 0; i < job.gangs; ++i) {
    GangTrack& t = track(GangId{job.first_gang.index + static_cast<uint32_t>(i)});
    ORRERY_CHECK(t.pending == 0 && t.assumed == 0, "a job that is over has no pods");
    t = GangTrack{};
  }
}

int64_t Scheduler::reserved_gpu_milli() const {
  int64_t milli = 0;
  for (const PodId pod : assumed_) milli += jobs_.request(pod).resources[Resource::Gpu];
  return milli;
}

void Scheduler::node_down(NodeId node) {
  for (size_t i = assumed_.size(); i-- > 0;) {
    if (i >= assumed_.size()) continue;  // a plugin's Unreserve took others along
    const PodId pod = assumed_[i];
    if (track(pod).node != node) continue;
    ORRERY_MARK("scheduling.reserved_node_failed");
    unassume(pod, "node failed before the pod was bound", AttemptOutcome::Error);
    requeue(pod, 0);
    i = assumed_.size();
  }
  post({ClusterEventKind::NodeChanged, node, {}, {}});
  kick();
}

void Scheduler::node_up(NodeId node) {
  post({ClusterEventKind::NodeAdded, node, {}, {}});
  kick();
}

void Scheduler::node_changed(NodeId node) {
  post({ClusterEventKind::NodeChanged, node, {}, {}});
  kick();
}

// Pod events of one instant that differ in their node alone count once, with no node named.
void Scheduler::post(const ClusterEvent& event) {
  if ((framework_->events_of_interest() & bit_of(event.kind)) == 0) return;
  const bool is_pod_event = event.spec.is_valid();
  const size_t looked_at = std::min<size_t>(events_.size(), 8);
  for (size_t i = events_.size() - looked_at; i < events_.size(); ++i) {
    ClusterEvent& known = events_[i];
    if (is_pod_event && known.kind == event.kind && known.spec == event.spec &&
        known.gang == event.gang) {
      if (known.node != event.node) known.node = {};
      // Units gain from each other's losses, not from their own.
      if (known.own.is_valid() &&
          (!event.own.is_valid() || unit_of(known.own) != unit_of(event.own)))
        known.own = {};
      return;
    }
  }
  events_.push_back(event);
}

void Scheduler::deliver_events() {
  if (events_.empty()) return;
  const auto own_unit = [this](const ClusterEvent& e) {
    return e.own.is_valid() ? unit_of(e.own) : PodId{};
  };
  if (std::ranges::any_of(events_, [&](const ClusterEvent& e) {
        return e.kind != ClusterEventKind::AssignedPodAdded &&
               (!e.own.is_valid() || own_unit(e) != blocking_);
      })) {
    is_blocked_ = false;
  }
  // Hints must not post events: delivery walks the list by index and then clears it.
  for (size_t i = 0; i < events_.size(); ++i) {
    const ClusterEvent event = events_[i];
    queue_.move_for(event, now(), own_unit(event));
  }
  events_.clear();
  if (queue_.gated() > 0) retry_gated();
}

void Scheduler::retry_gated() {
  std::vector<PodId> gated;
  queue_.for_each_gated([&](PodId unit) { gated.push_back(unit); });
  for (const PodId unit : gated) enqueue(unit);
}

}  // namespace orrery
