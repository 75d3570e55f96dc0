#include "models/scheduling/cycle/scheduling_queue.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "sim/core/check.hpp"

namespace orrery {
namespace {

constexpr Duration kWindow = 1_s;           // backoffs end at whole seconds
constexpr Duration kLeftoverPeriod = 30_s;  // how often old unschedulable units are looked for

Time whole_second(Time t) { return {t.ns / kWindow.ns * kWindow.ns}; }

// Old units are looked for at multiples of kLeftoverPeriod only.
Time leftover_due(Time entered, Duration unschedulable_max) {
  const int64_t due = (entered + unschedulable_max).ns;
  return {(due + kLeftoverPeriod.ns - 1) / kLeftoverPeriod.ns * kLeftoverPeriod.ns};
}

}  // namespace

Duration SchedulingQueue::backoff(const QueueParams& params, int32_t attempts) {
  Duration wait = params.initial_backoff;
  for (int32_t i = 1; i < attempts && wait < params.max_backoff; ++i) wait = wait * 2;
  return std::min(wait, params.max_backoff);
}

SchedulingQueue::Entry& SchedulingQueue::entry(PodId unit) {
  if (unit.index >= entries_.size()) entries_.resize(unit.index + 1);
  return entries_[unit.index];
}

bool SchedulingQueue::before(const Heap& heap, uint32_t a, uint32_t b) const {
  const Entry& x = entries_[a];
  const Entry& y = entries_[b];
  if (&heap == &error_backoff_ || &heap == &backoff_) {
    if (x.backoff_until != y.backoff_until) return x.backoff_until < y.backoff_until;
  }
  if (less_(x.view, y.view)) return true;
  if (less_(y.view, x.view)) return false;
  return x.order < y.order;
}

void SchedulingQueue::push(Heap& heap, uint32_t unit) {
  heap.push_back(unit);
  entries_[unit].heap_index = static_cast<uint32_t>(heap.size() - 1);
  sift_up(heap, heap.size() - 1);
}

void SchedulingQueue::sift_up(Heap& heap, size_t hole) {
  const uint32_t unit = heap[hole];
  while (hole > 0) {
    const size_t parent = (hole - 1) / 2;
    if (!before(heap, unit, heap[parent])) break;
    heap[hole] = heap[parent];
    entries_[heap[hole]].heap_index = static_cast<uint32_t>(hole);
    hole = parent;
  }
  heap[hole] = unit;
  entries_[unit].heap_index = static_cast<uint32_t>(hole);
}

void SchedulingQueue::sift_down(Heap& heap, size_t hole) {
  const uint32_t unit = heap[hole];
  for (size_t child = 2 * hole + 1; child < heap.size(); child = 2 * hole + 1) {
    if (child + 1 < heap.size() && before(heap, heap[child + 1], heap[child])) ++child;
    if (!before(heap, heap[child], unit)) break;
    heap[hole] = heap[child];
    entries_[heap[hole]].heap_index = static_cast<uint32_t>(hole);
    hole = child;
  }
  heap[hole] = unit;
  entries_[unit].heap_index = static_cast<uint32_t>(hole);
}

void SchedulingQueue::erase(Heap& heap, uint32_t unit) {
  const size_t hole = entries_[unit].heap_index;
  const uint32_t last = heap.back();
  heap.pop_back();
  if (last == unit) return;
  heap[hole] = last;
  entries_[last].heap_index = static_cast<uint32_t>(hole);
  sift_up(heap, hole);
  sift_down(heap, entries_[last].heap_index);
}

// True if that changed what the entry says.
bool SchedulingQueue::read_gang_failure(Entry& e) const {
  if (!e.view.gang.is_valid()) return false;
  return std::exchange(e.view.gang_failed, gang_failed_(e.view.gang)) != e.view.gang_failed;
}

// A failure moves a gang's members back, and it is enough to know that once they are at the front:
// what they say in the meantime is too early, never too late.
uint32_t SchedulingQueue::settled_front(Heap& heap) {
  while (read_gang_failure(entries_[heap.front()])) sift_down(heap, 0);
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
  Entry& e = entries_[unit];
  ORRERY_CHECK(e.place == Place::None, "a unit stands in one queue at a time");
  e.place = place;
  ++in_queues_;
  if (place == Place::Held) return;
  if (place == Place::Gated) {
    ++gated_;
  } else if (place == Place::Unschedulable) {
    auto& bucket = unschedulable_[key_of(e)];
    e.heap_index = static_cast<uint32_t>(bucket.size());
    bucket.push_back(unit);
    leftovers_.push_back({e.entered, unit, e.order});
  } else {
    read_gang_failure(e);
    push(heap_of(place), unit);
  }
}

void SchedulingQueue::leave(uint32_t unit) {
  Entry& e = entries_[unit];
  const Place place = e.place;
  if (place == Place::None) return;
  --in_queues_;
  if (place == Place::Gated) {
    --gated_;
  } else if (place == Place::Unschedulable) {
    const auto found = unschedulable_.find(key_of(e));
    auto& bucket = found->second;
    // Order within a bucket does not matter: whoever leaves is sorted by the heap it enters.
    bucket[e.heap_index] = bucket.back();
    entries_[bucket[e.heap_index]].heap_index = e.heap_index;
    bucket.pop_back();
    if (bucket.empty()) unschedulable_.erase(found);
  } else if (place != Place::Held) {
    erase(heap_of(place), unit);
  }
  e.place = Place::None;
}

void SchedulingQueue::add(const QueuedUnit& unit, SpecId spec) {
  Entry& e = entry(unit.pod);
  const bool was_gated = e.place == Place::Gated;
  leave(unit.pod.index);
  const Entry before = std::exchange(e, {});
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
  Entry& e = entry(unit.pod);
  leave(unit.pod.index);
  e.view = unit;
  e.spec = spec;
  e.order = next_order_++;
  enter(unit.pod.index, Place::Gated);
}

void SchedulingQueue::remove(PodId unit) {
  if (unit.index >= entries_.size()) return;
  leave(unit.index);
  entries_[unit.index] = Entry{};
}

std::optional<QueuedUnit> SchedulingQueue::pop(Time now) {
  Heap* heap = &active_;
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
  Entry& e = entry(unit);
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
  // Without a plugin to blame there is no event to wait for.
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
  Entry& e = entries_[unit];
  enter(unit, e.backoff_until > now ? Place::Backoff : Place::Active);
}

void SchedulingQueue::activate(PodId unit, Time now) {
  const Place at = place(unit);
  if (at != Place::Backoff && at != Place::ErrorBackoff && at != Place::Unschedulable) return;
  leave(unit.index);
  enter(unit.index, view(unit).queued == now ? Place::Backoff : Place::Active);
}

void SchedulingQueue::move_for(const ClusterEvent& event, Time now, PodId own) {
  moved_.clear();
  std::vector<uint32_t> at_once;
  for (const auto& [key, bucket] : unschedulable_) {
    const PodId sample{bucket.front()};
    const uint32_t plugins = std::get<2>(key);
    const uint32_t pending = std::get<3>(key);
    bool moves = false, moves_at_once = false;
    for (uint32_t rest = plugins; rest != 0 && !moves_at_once; rest &= rest - 1) {
      const auto plugin = static_cast<uint8_t>(std::countr_zero(rest));
      if (hint_(plugin, sample, event) == QueueHint::Skip) continue;
      moves = true;
      if ((pending >> plugin & 1) != 0)
        moves_at_once = true;
      else if (pending == 0)
        break;
    }
    if (moves_at_once)
      at_once.insert(at_once.end(), bucket.begin(), bucket.end());
    else if (moves)
      moved_.insert(moved_.end(), bucket.begin(), bucket.end());
  }
  for (const uint32_t unit : moved_) {
    if (unit != own.index) to_active_or_backoff(unit, now);
  }
  for (const uint32_t unit : at_once) {
    if (unit != own.index) activate({unit}, now);
  }
}

void SchedulingQueue::flush(Time now) {
  for (Heap* heap : {&backoff_, &error_backoff_}) {
    while (!heap->empty() && entries_[heap->front()].backoff_until <= now) {
      const uint32_t unit = heap->front();
      leave(unit);
      enter(unit, Place::Active);
    }
  }
  while (!leftovers_.empty() &&
         leftover_due(leftovers_.front().entered, params_.unschedulable_max) <= now) {
    const Leftover old = leftovers_.front();
    leftovers_.pop_front();
    const Entry& e = entries_[old.unit];
    if (e.place != Place::Unschedulable || e.order != old.order) continue;
    ORRERY_MARK("scheduling.unschedulable_leftover");
    to_active_or_backoff(old.unit, now);
  }
}

Time SchedulingQueue::next_flush(Time now) const {
  Time next = Time::max();
  if (!backoff_.empty()) next = std::min(next, entries_[backoff_.front()].backoff_until);
  if (!error_backoff_.empty())
    next = std::min(next, entries_[error_backoff_.front()].backoff_until);
  while (!leftovers_.empty()) {
    const Leftover& old = leftovers_.front();
    const Entry& e = entries_[old.unit];
    if (e.place == Place::Unschedulable && e.order == old.order) break;
    leftovers_.pop_front();
  }
  if (!leftovers_.empty()) {
    next = std::min(next, leftover_due(leftovers_.front().entered, params_.unschedulable_max));
  }
  return std::max(next, now);
}

}  // namespace orrery
