// models/scheduling/cycle/scheduling_queue.hpp -- active, backoff and unschedulable queues, as
// upstream's.
//
// A unit is one pod or, with the per_gang driver, one gang, named by its (first) pod. Units that
// no event can tell apart (same spec, same gang, same rejecting plugins) share a bucket of the
// unschedulable set, so that an event costs one hint per bucket and plugin, not per pod.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "models/scheduling/contract/policy_types.hpp"
#include "models/scheduling/framework/profile.hpp"

namespace orrery {

class SchedulingQueue {
 public:
  enum class Place : uint8_t { None, Gated, Held, Active, Backoff, ErrorBackoff, Unschedulable };
  using Less = std::function<bool(const QueuedUnit&, const QueuedUnit&)>;
  // Whether `event` may help a pod that `plugin` (index in the profile) turned away.
  using Hint = std::function<QueueHint(uint8_t plugin, PodId pod, const ClusterEvent& event)>;

  // The last failure of a gang, as it is now (see QueuedUnit).
  using GangFailed = std::function<Time(GangId gang)>;

  SchedulingQueue(const QueueParams& params, Less less, Hint hint, GangFailed gang_failed)
      : params_{params},
        less_{std::move(less)},
        hint_{std::move(hint)},
        gang_failed_{std::move(gang_failed)} {}

  // Straight to the active queue; a gated unit keeps the place in line that it came with.
  void add(const QueuedUnit& unit, SpecId spec);
  void gate(const QueuedUnit& unit, SpecId spec);  // held by a PreEnqueue
  void remove(PodId unit);
  // The unit to try next; it is in no queue until it fails, is put back or added again.
  std::optional<QueuedUnit> pop(Time now);
  std::optional<QueuedUnit> take(PodId unit);  // that very one; none if gated or in no queue
  PodId front();                               // of the active queue; invalid if that is empty
  // The attempt failed. `plugins`: bit set of those that turned it away, none: an error.
  void fail(PodId unit, Time now, uint32_t plugins, uint32_t pending_plugins);
  // After its failure: no event moves it until it is let go, to where it then belongs.
  void hold(PodId unit);
  void let_go(PodId unit);
  void put_back(PodId unit);  // to the active queue with its old place in the order
  // From backoff or unschedulable straight to active; to backoff at the instant of its failure, or
  // a gang that fits nowhere is tried for ever where cycles take no time.
  void activate(PodId unit, Time now);
  // The gang's failure is forgotten, so the unit may sort before others again.
  void gang_recovered(PodId unit);
  // Whatever the event may help but `own`, the unit that caused it.
  void move_for(const ClusterEvent& event, Time now, PodId own = {});
  // Everything that waited unschedulable for unschedulable_max, and ended backoffs.
  void flush(Time now);
  // The next time at which flush() would move something; Time::max() if never.
  Time next_flush(Time now) const;

  Place place(PodId unit) const {
    return unit.index < entries_.size() ? entries_[unit.index].place : Place::None;
  }
  QueuedUnit& view(PodId unit) { return entries_[unit.index].view; }
  size_t active() const { return active_.size(); }
  bool has_ready(Time now) const { return !active_.empty() || may_pop_backoff(now); }
  size_t size() const { return in_queues_; }  // in any queue, gated ones included
  size_t gated() const { return gated_; }
  // Length of the n-th wait (n >= 1).
  static Duration backoff(const QueueParams& params, int32_t attempts);
  template <class F>
  void for_each_gated(F&& f) const {
    for (uint32_t i = 0; i < entries_.size() && gated_ > 0; ++i) {
      if (entries_[i].place == Place::Gated) f(PodId{i});
    }
  }

 private:
  struct Entry {
    QueuedUnit view;
    SpecId spec;
    Place place = Place::None;
    uint32_t heap_index = 0;
    uint32_t plugins = 0, pending_plugins = 0;
    int32_t errors = 0, unschedulable_count = 0;
    uint64_t order = 0;  // first queued, first out among equals
    Time backoff_until;  // whole second
    Time entered;        // the unschedulable set
  };
  using BucketKey = std::tuple<uint32_t, uint32_t, uint32_t, uint32_t>;  // spec, gang, plugins
  using Heap = std::vector<uint32_t>;

  Entry& entry(PodId unit);
  // Not at the instant of its failure: nothing can have changed, and time would stand still.
  bool may_pop_backoff(Time now) const {
    return params_.pop_from_backoff && !backoff_.empty() &&
           entries_[backoff_.front()].view.queued < now;
  }
  BucketKey key_of(const Entry& e) const {
    return {e.spec.index, e.view.gang.index, e.plugins, e.pending_plugins};
  }
  bool before(const Heap& heap, uint32_t a, uint32_t b) const;
  void push(Heap& heap, uint32_t unit);
  void erase(Heap& heap, uint32_t unit);
  void sift_up(Heap& heap, size_t hole);
  void sift_down(Heap& heap, size_t hole);
  Heap& heap_of(Place place) {
    return place == Place::Active ? active_ : place == Place::Backoff ? backoff_ : error_backoff_;
  }
  bool read_gang_failure(Entry& e) const;
  uint32_t settled_front(Heap& heap);
  void enter(uint32_t unit, Place place);
  void leave(uint32_t unit);
  void to_active_or_backoff(uint32_t unit, Time now);

  QueueParams params_;
  Less less_;
  Hint hint_;
  GangFailed gang_failed_;
  std::vector<Entry> entries_;  // by pod index
  Heap active_, backoff_, error_backoff_;
  std::map<BucketKey, std::vector<uint32_t>> unschedulable_;
  struct Leftover {
    Time entered;
    uint32_t unit;
    uint64_t order;
  };
  mutable std::deque<Leftover> leftovers_;  // by time of entry; stale ones are skipped
  std::vector<uint32_t> moved_;
  size_t in_queues_ = 0, gated_ = 0;
  uint64_t next_order_ = 0;
};

}  // namespace orrery
