#include "models/scheduling/queue/scheduling_queue.hpp"

#include <algorithm>
#include <utility>

#include "sim/core/check.hpp"

namespace orrery {
namespace {

Time whole_second(Time t) {
  constexpr int64_t kNs = SchedulingQueue::kWindow.ns;
  return {t.ns / kNs * kNs};
}

}  // namespace

Duration SchedulingQueue::backoff(const QueueParams& params, int32_t attempts) {
  Duration wait = params.initial_backoff;
  for (int32_t i = 1; i < attempts && wait < params.max_backoff; ++i) wait = wait * 2;
  return std::min(wait, params.max_backoff);
}

// Updates the entry's copy of the gang's last failure. Returns whether the copy changed.
bool SchedulingQueue::read_gang_failure(QueueEntry& e) const {
  if (!e.view.gang.is_valid()) return false;
  return std::exchange(e.view.gang_failed, gang_failed_(e.view.gang)) != e.view.gang_failed;
}

// Returns the front of the heap, after moving back units whose gang has failed meanwhile. It is
// enough to update the entry at the front: a failure only moves a unit back, so an entry that is
// not updated may be too far forward, but never too far back.
uint32_t SchedulingQueue::settled_front(UnitHeap& heap) {
  while (read_gang_failure(entries_[heap.front()])) heap.front_moved_back(entries_);
  return heap.front();
}

void SchedulingQueue::gang_recovered(PodId unit) {
  const Place at = place(unit);
  if (at != Place::Active && at != Place::Backoff && at != Place::ErrorBackoff) return;
  const QueuedUnit& unit_view = view(unit);
  if (unit_view.gang_failed <= gang_failed_(unit_view.gang)) return;
  leave(unit.index);
  enter(unit.index, at);
}

void SchedulingQueue::enter(uint32_t unit, Place place) {
  QueueEntry& e = entries_[unit];
  ORRERY_CHECK(e.place == Place::None, "a unit stands in one queue at a time");
  e.place = place;
  ++in_queues_;
  if (place == Place::Held) return;
  if (place == Place::Gated) {
    gated_.insert(unit);
  } else if (place == Place::Unschedulable) {
    unschedulable_.insert(entries_, unit);
  } else {
    read_gang_failure(e);
    heap_of(place).push(entries_, unit);
  }
}

void SchedulingQueue::leave(uint32_t unit) {
  QueueEntry& e = entries_[unit];
  const Place place = e.place;
  if (place == Place::None) return;
  --in_queues_;
  if (place == Place::Gated) {
    gated_.erase(unit);
  } else if (place == Place::Unschedulable) {
    unschedulable_.erase(entries_, unit);
  } else if (place != Place::Held) {
    heap_of(place).erase(entries_, unit);
  }
  e.place = Place::None;
}

void SchedulingQueue::add(const QueuedUnit& unit, SpecId spec) {
  QueueEntry& e = entries_.find_or_add(unit.pod.index);
  const bool was_gated = e.place == Place::Gated;
  leave(unit.pod.index);
  const QueueEntry before = std::exchange(e, {});
  e.errors = before.errors;
  e.unschedulable_count = before.unschedulable_count;
  e.view = unit;
  e.spec = spec;
  if (was_gated) {
    e.view.queued = before.view.queued;
    e.order = before.order;
  } else {
    e.order = next_order_++;
  }
  enter(unit.pod.index, Place::Active);
}

void SchedulingQueue::gate(const QueuedUnit& unit, SpecId spec) {
  QueueEntry& e = entries_.find_or_add(unit.pod.index);
  leave(unit.pod.index);
  e.view = unit;
  e.spec = spec;
  e.order = next_order_++;
  enter(unit.pod.index, Place::Gated);
}

void SchedulingQueue::remove(PodId unit) {
  if (!entries_.contains(unit.index)) return;
  leave(unit.index);
  entries_[unit.index] = QueueEntry{};
}

std::optional<QueuedUnit> SchedulingQueue::pop(Time now) {
  UnitHeap* heap = &active_;
  if (active_.empty()) {
    if (!may_pop_backoff(now)) return std::nullopt;
    heap = &backoff_;
    ORRERY_MARK("scheduling.pop_from_backoff");
  }
  const uint32_t unit = settled_front(*heap);
  leave(unit);
  return entries_[unit].view;
}

std::optional<QueuedUnit> SchedulingQueue::take(PodId unit) {
  const Place at = place(unit);
  if (at == Place::None || at == Place::Gated || at == Place::Held) return std::nullopt;
  leave(unit.index);
  return entries_[unit.index].view;
}

PodId SchedulingQueue::front() { return active_.empty() ? PodId{} : PodId{settled_front(active_)}; }

void SchedulingQueue::put_back(PodId unit) { enter(unit.index, Place::Active); }

void SchedulingQueue::fail(PodId unit, Time now, uint32_t plugins, uint32_t pending_plugins) {
  QueueEntry& e = entries_.find_or_add(unit.index);
  if (plugins == 0) {
    ++e.errors;
  } else {
    ++e.unschedulable_count;
    e.errors = 0;
  }
  e.view.queued = now;
  e.order = next_order_++;
  e.plugins = plugins;
  e.pending_plugins = pending_plugins;
  const int32_t count = e.errors > 0 ? e.errors : e.unschedulable_count;
  e.backoff_until = whole_second(now + backoff(params_, count));
  e.entered = now;
  // If no plugin rejected the unit, there is no event to wait for.
  if (plugins == 0)
    enter(unit.index, e.backoff_until <= now ? Place::Active : Place::ErrorBackoff);
  else
    enter(unit.index, Place::Unschedulable);
}

void SchedulingQueue::hold(PodId unit) {
  if (place(unit) == Place::None) return;
  leave(unit.index);
  enter(unit.index, Place::Held);
}

void SchedulingQueue::let_go(PodId unit) {
  if (place(unit) != Place::Held) return;
  leave(unit.index);
  enter(unit.index, Place::Unschedulable);
}

void SchedulingQueue::to_active_or_backoff(uint32_t unit, Time now) {
  leave(unit);
  QueueEntry& e = entries_[unit];
  enter(unit, e.backoff_until > now ? Place::Backoff : Place::Active);
}

void SchedulingQueue::activate(PodId unit, Time now) {
  const Place at = place(unit);
  if (at != Place::Backoff && at != Place::ErrorBackoff && at != Place::Unschedulable) return;
  leave(unit.index);
  enter(unit.index, view(unit).queued == now ? Place::Backoff : Place::Active);
}

void SchedulingQueue::move_for(const ClusterEvent& event, Time now, PodId own) {
  const UnschedulableUnits::Helped helped = unschedulable_.helped_by(event, hint_);
  for (const uint32_t unit : helped.after_backoff) {
    if (unit != own.index) to_active_or_backoff(unit, now);
  }
  for (const uint32_t unit : helped.at_once) {
    if (unit != own.index) activate({unit}, now);
  }
}

void SchedulingQueue::flush(Time now) {
  for (UnitHeap* heap : {&backoff_, &error_backoff_}) {
    while (!heap->empty() && entries_[heap->front()].backoff_until <= now) {
      const uint32_t unit = heap->front();
      leave(unit);
      enter(unit, Place::Active);
    }
  }
  while (const auto unit = unschedulable_.take_leftover(entries_, params_.unschedulable_max, now)) {
    ORRERY_MARK("scheduling.unschedulable_leftover");
    to_active_or_backoff(*unit, now);
  }
}

Time SchedulingQueue::next_flush(Time now) {
  Time next = unschedulable_.next_leftover(entries_, params_.unschedulable_max);
  for (const UnitHeap* heap : {&backoff_, &error_backoff_}) {
    if (!heap->empty()) next = std::min(next, entries_[heap->front()].backoff_until);
  }
  return std::max(next, now);
}

Time SchedulingQueue::next_flush_of_idle(Time failed_before) {
  Time next = unschedulable_.next_leftover(entries_, params_.unschedulable_max);
  for (const UnitHeap* heap : {&backoff_, &error_backoff_}) {
    for (const uint32_t unit : heap->units()) {
      const QueueEntry& e = entries_[unit];
      if (e.view.queued < failed_before) next = std::min(next, e.backoff_until);
    }
  }
  return next;
}

}  // namespace orrery
