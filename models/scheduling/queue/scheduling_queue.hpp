// models/scheduling/queue/scheduling_queue.hpp -- active, backoff and unschedulable queues, as in
// kube-scheduler.
//
// A unit is one pod or, with the per_gang driver, one gang. A gang is identified by its first pod.
// Example: a pod fails for the first time at 10.3 s and goes to the unschedulable queue. Its
// backoff of 1 s ends at 11.3 s, rounded down to 11 s. At 10.5 s another pod is deleted,
// which may make room. So the failed pod moves to the backoff queue and, at 11 s, to the active
// queue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include "models/scheduling/contract/policy_types.hpp"
#include "models/scheduling/framework/profile.hpp"
#include "models/scheduling/queue/queue_entries.hpp"
#include "models/scheduling/queue/unit_heap.hpp"
#include "models/scheduling/queue/unschedulable_units.hpp"

namespace orrery {

class SchedulingQueue {
 public:
  using Place = QueuePlace;
  using Less = QueueEntries::Less;
  using Hint = UnschedulableUnits::Hint;
  // Returns the time of the gang's last failure. QueuedUnit::gang_failed is a copy of this time,
  // and may be out of date.
  using GangFailed = std::function<Time(GangId gang)>;

  SchedulingQueue(const QueueParams& params, Less less, Hint hint, GangFailed gang_failed)
      : params_{params},
        hint_{std::move(hint)},
        gang_failed_{std::move(gang_failed)},
        entries_{std::move(less)} {}

  static constexpr Duration kWindow = 1_s;  // as upstream, backoffs end at whole seconds
  const QueueParams& params() const { return params_; }

  // Puts the unit into the active queue. A unit that was gated keeps the `queued` time and the
  // `order` that gate() stored.
  void add(const QueuedUnit& unit, SpecId spec);
  void gate(const QueuedUnit& unit, SpecId spec);  // a PreEnqueue plugin rejected it
  void remove(PodId unit);
  // Removes and returns the unit to try next. Then the unit is in no queue, until fail(),
  // put_back() or add() is called for it.
  std::optional<QueuedUnit> pop(Time now);
  // Like pop(), but for `unit`. Returns nullopt if `unit` is gated, held or in no queue.
  std::optional<QueuedUnit> take(PodId unit);
  PodId front();  // front of the active queue; invalid if this queue is empty
  // Queues a unit that was tried without success. `plugins` is the set of the plugins that rejected
  // the unit. A rejected unit goes to the unschedulable queue. If no plugin rejected the unit,
  // there was an error, and the unit goes to an error backoff.
  void fail(PodId unit, Time now, uint32_t plugins, uint32_t pending_plugins);
  // hold() takes a failed unit out of its queue, so that no event moves it. let_go() puts it into
  // the unschedulable queue.
  void hold(PodId unit);
  void let_go(PodId unit);
  void put_back(PodId unit);  // returns a popped unit to the active queue, at its old place
  // Moves a unit from backoff or unschedulable straight to the active queue. A unit that failed at
  // `now` goes to backoff instead. This prevents an endless loop at one instant: if cycles take no
  // time, a gang that never fits could fail and be activated again and again.
  void activate(PodId unit, Time now);
  // Must be called after the time of the gang's last failure was cleared or made earlier, because
  // the unit may then move forward in its queue.
  void gang_recovered(PodId unit);
  // Moves every unschedulable unit for which at least one rejecting plugin hints Queue. A unit goes
  // to the backoff queue while its backoff lasts, else to the active queue. If a plugin that
  // returned Pending hints Queue, the unit skips its backoff: see activate(). `own`, the unit that
  // caused the event, stays.
  void move_for(const ClusterEvent& event, Time now, PodId own = {});
  // Moves units whose backoff has ended to the active queue. A unit that has been unschedulable for
  // unschedulable_max or longer moves to the backoff queue if its backoff still lasts, else to the
  // active queue.
  void flush(Time now);
  // The next time at which flush() would move a unit; Time::max(): never.
  Time next_flush(Time now);
  // Like next_flush(), but considers a unit in backoff only if it failed before `failed_before`.
  // Costs O(units in backoff).
  Time next_flush_of_idle(Time failed_before);

  Place place(PodId unit) const {
    return entries_.contains(unit.index) ? entries_[unit.index].place : Place::None;
  }
  QueuedUnit& view(PodId unit) { return entries_[unit.index].view; }
  size_t active() const { return active_.size(); }
  bool has_ready(Time now) const { return !active_.empty() || may_pop_backoff(now); }
  size_t size() const { return in_queues_; }  // units in any queue, and gated and held units
  size_t gated() const { return gated_.size(); }
  // The backoff of a unit after its first failed attempt (`attempts` is 1), its second (2), ...
  static Duration backoff(const QueueParams& params, int32_t attempts);
  // Calls f(unit) for each gated unit, in the order of pod ids. `f` must not change the queue.
  template <class F>
  void for_each_gated(F&& f) const {
    for (const uint32_t unit : gated_) f(PodId{unit});
  }

 private:
  // No unit is popped from backoff at the instant of its failure. Otherwise, if cycles take no
  // time, a unit that never fits would be tried again for ever at this instant.
  bool may_pop_backoff(Time now) const {
    return params_.pop_from_backoff && !backoff_.empty() &&
           entries_[backoff_.front()].view.queued < now;
  }
  UnitHeap& heap_of(Place place) {
    return place == Place::Active ? active_ : place == Place::Backoff ? backoff_ : error_backoff_;
  }
  bool read_gang_failure(QueueEntry& e) const;
  uint32_t settled_front(UnitHeap& heap);
  void enter(uint32_t unit, Place place);
  void leave(uint32_t unit);
  void to_active_or_backoff(uint32_t unit, Time now);

  QueueParams params_;
  Hint hint_;
  GangFailed gang_failed_;
  QueueEntries entries_;
  UnitHeap active_{UnitHeap::Order::QueueSort};
  UnitHeap backoff_{UnitHeap::Order::BackoffEnd}, error_backoff_{UnitHeap::Order::BackoffEnd};
  UnschedulableUnits unschedulable_;
  std::set<uint32_t> gated_;
  size_t in_queues_ = 0;
  uint64_t next_order_ = 0;
};

}  // namespace orrery
