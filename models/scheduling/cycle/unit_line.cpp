#include "models/scheduling/cycle/unit_line.hpp"

#include <algorithm>

#include "sim/core/check.hpp"

namespace orrery {

UnitLine::UnitLine(const Engine& engine, JobTable& jobs, PodTracks& tracks,
                   const ActiveProfile& profile, const QueueParams& params)
    : engine_{engine},
      jobs_{jobs},
      tracks_{tracks},
      profile_{profile},
      queue_{make_queue(params)} {}

SchedulingQueue UnitLine::make_queue(const QueueParams& params) {
  return {
      params,
      [this](const QueuedUnit& a, const QueuedUnit& b) { return profile_.framework->less(a, b); },
      [this](uint8_t plugin, PodId id, const ClusterEvent& event) {
        return profile_.framework->hint(plugin, tracks_.pod(id), event);
      },
      [this](GangId gang) { return tracks_.last_failure(gang); }};
}

void UnitLine::start_over(const QueueParams& params) {
  queue_ = make_queue(params);
  events_.clear();
  is_blocked_ = false;
}

PodId UnitLine::unit_of(PodId pod) const {
  return is_gang_unit(pod) ? jobs_.gang(jobs_.pod(pod).gang).first : pod;
}

QueuedUnit UnitLine::queued_unit(PodId pod) {
  const Pod& p = jobs_.pod(pod);
  const PodTrack& t = tracks_.of(pod);
  const Time now = engine_.now();
  QueuedUnit unit{.pod = unit_of(pod),
                  .gang = p.gang,
                  .priority = jobs_.spec(pod).priority,
                  .queued = now,
                  .initial_attempt = t.was_attempted ? t.initial_attempt : now,
                  .gang_created = now};
  unit.gang_created = unit.initial_attempt;
  if (p.gang.is_valid()) {
    unit.gang_created = jobs_.gang(p.gang).created_at;
    unit.gang_failed = tracks_.of(p.gang).last_failure;
  }
  return unit;
}

void UnitLine::enqueue(PodId pod) {
  const PodId unit = unit_of(pod);
  using Place = SchedulingQueue::Place;
  const Place place = queue_.place(unit);
  if (place != Place::None && place != Place::Gated) return;
  const PodView view = tracks_.pod(pod);
  const bool is_gated = !profile_.framework->run_pre_enqueue(view);
  if (is_gated && place == Place::Gated) return;
  const QueuedUnit queued = queued_unit(pod);
  if (view.gang.is_valid()) {
    tracks_.of(view.gang).gated += is_gated ? 1 : place == Place::Gated ? -1 : 0;
  }
  if (is_gated)
    queue_.gate(queued, view.spec_id);
  else
    queue_.add(queued, view.spec_id);
}

void UnitLine::leave(PodId pod) {
  const GangId gang = jobs_.pod(pod).gang;
  // A gang stays in the queue until its last pod has left.
  if (is_gang_unit(pod) && tracks_.of(gang).pending > 0) return;
  const PodId unit = unit_of(pod);
  if (gang.is_valid() && queue_.place(unit) == SchedulingQueue::Place::Gated) {
    --tracks_.of(gang).gated;
  }
  queue_.remove(unit);
}

void UnitLine::requeue(PodId pod, uint32_t plugins) {
  const PodId unit = unit_of(pod);
  if (queue_.place(unit) == SchedulingQueue::Place::None) {
    queue_.fail(unit, engine_.now(), plugins, 0);
  }
}

void UnitLine::activate_siblings(PodId pod) {
  const GangId gang = jobs_.pod(pod).gang;
  if (!gang.is_valid()) return;
  const Gang& g = jobs_.gang(gang);
  JobTable::for_each_pod(g.first, g.pods, [&](PodId sibling) {
    if (sibling != pod) queue_.activate(unit_of(sibling), engine_.now());
  });
}

void UnitLine::gang_recovered(GangId gang) {
  const Gang& g = jobs_.gang(gang);
  JobTable::for_each_pod(g.first, g.pods,
                         [&](PodId member) { queue_.gang_recovered(unit_of(member)); });
}

// ---- events

// Stores the event for deliver(). A pod event is merged into an earlier event with the same kind,
// spec and gang, if the earlier event is among the last 8 stored. If the nodes of the two events
// differ, the merged event has no node.
void UnitLine::post(const ClusterEvent& event) {
  if ((profile_.framework->events_of_interest() & bit_of(event.kind)) == 0) return;
  const bool is_pod_event = event.spec.is_valid();
  const size_t looked_at = std::min<size_t>(events_.size(), 8);
  for (size_t i = events_.size() - looked_at; i < events_.size(); ++i) {
    ClusterEvent& known = events_[i];
    if (is_pod_event && known.kind == event.kind && known.spec == event.spec &&
        known.gang == event.gang) {
      if (known.node != event.node) known.node = {};
      // An event cannot help the unit that caused the event, but may help any other unit. So if
      // different units caused the two events, the merged event names no unit.
      if (own_unit(known) != own_unit(event)) known.own = {};
      return;
    }
  }
  events_.push_back(event);
}

PodId UnitLine::own_unit(const ClusterEvent& event) const {
  return event.own.is_valid() ? unit_of(event.own) : PodId{};
}

void UnitLine::deliver() {
  if (events_.empty()) return;
  const auto may_help_the_head = [&](const ClusterEvent& e) {
    return e.kind != ClusterEventKind::AssignedPodAdded &&
           (!e.own.is_valid() || own_unit(e) != blocking_);
  };
  if (std::ranges::any_of(events_, may_help_the_head)) unblock();
  // Hints must not post events: post() may merge a new event into one that is already delivered,
  // and then the new event is lost.
  for (size_t i = 0; i < events_.size(); ++i) {
    const ClusterEvent event = events_[i];
    queue_.move_for(event, engine_.now(), own_unit(event));
  }
  events_.clear();
  if (queue_.gated() > 0) retry_gated();
}

void UnitLine::retry_gated() {
  std::vector<PodId> gated;
  queue_.for_each_gated([&](PodId unit) { gated.push_back(unit); });
  for (const PodId unit : gated) enqueue(unit);
}

void UnitLine::block(PodId unit) {
  ORRERY_MARK("scheduling.head_blocks");
  queue_.put_back(unit);
  is_blocked_ = true;
  blocking_ = unit;
}

}  // namespace orrery
