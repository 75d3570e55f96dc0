// models/scheduling/queue/scheduling_queue.hpp -- active, backoff and unschedulable queues, as
// upstream's.
//
// A unit is one pod or, with the per_gang driver, one gang, named by its (first) pod. Example: a
// pod fails for the 1st time at 10.3 s and waits in the unschedulable queue. A pod deletion at 10.5
// s that may help moves it to backoff, which ends 1 s after the failure, and then to active.
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
  // The present last failure of a gang (see QueuedUnit).
  using GangFailed = std::function<Time(GangId gang)>;

  SchedulingQueue(const QueueParams& params, Less less, Hint hint, GangFailed gang_failed)
      : params_{params},
        hint_{std::move(hint)},
        gang_failed_{std::move(gang_failed)},
        entries_{std::move(less)} {}

  static constexpr Duration kWindow = 1_s;  // backoffs end at whole seconds, as upstream
  const QueueParams& params() const { return params_; }

  // Straight to the active queue; a gated unit keeps its first position in the order.
  void add(const QueuedUnit& unit, SpecId spec);
  void gate(const QueuedUnit& unit, SpecId spec);  // held by a PreEnqueue
  void remove(PodId unit);
  // Removes and returns the unit to try next. It is in no queue until it fails, is put back or
  // added again.
  std::optional<QueuedUnit> pop(Time now);
  std::optional<QueuedUnit> take(PodId unit);  // this unit; empty if gated or in no queue
  PodId front();                               // of the active queue; invalid if that is empty
  // The attempt failed. `plugins`: bit set of the plugins that rejected the unit; empty: an error.
  void fail(PodId unit, Time now, uint32_t plugins, uint32_t pending_plugins);
  // Holds a failed unit: no event moves it until let_go(), which makes it unschedulable.
  void hold(PodId unit);
  void let_go(PodId unit);
  void put_back(PodId unit);  // to the active queue with its old place in the order
  // From backoff or unschedulable straight to active. At the instant of its failure the unit goes
  // to backoff, otherwise a gang that fits nowhere would be tried for ever if cycles take no time.
  void activate(PodId unit, Time now);
  // The gang's failure is forgotten, so the unit may sort before others again.
  void gang_recovered(PodId unit);
  // Moves every unit that the event may help, except `own`, which caused the event.
  void move_for(const ClusterEvent& event, Time now, PodId own = {});
  // Moves units that were unschedulable for unschedulable_max, and units whose backoff has ended.
  void flush(Time now);
  // The next time at which flush() would move a unit; Time::max() if never.
  Time next_flush(Time now);
  // As next_flush(), for units that failed before `failed_before` and were not tried since. Costs
  // O(units).
  Time next_flush_of_idle(Time failed_before);

  Place place(PodId unit) const {
    return entries_.contains(unit.index) ? entries_[unit.index].place : Place::None;
  }
  QueuedUnit& view(PodId unit) { return entries_[unit.index].view; }
  size_t active() const { return active_.size(); }
  bool has_ready(Time now) const { return !active_.empty() || may_pop_backoff(now); }
  size_t size() const { return in_queues_; }  // in any queue, gated ones included
  size_t gated() const { return gated_.size(); }
  // Length of the n-th wait (n >= 1).
  static Duration backoff(const QueueParams& params, int32_t attempts);
  // In the order of their pods. `f` must not change the queue.
  template <class F>
  void for_each_gated(F&& f) const {
    for (const uint32_t unit : gated_) f(PodId{unit});
  }

 private:
  // A unit is not popped at the instant of its failure: nothing has changed, and time would not
  // advance.
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
