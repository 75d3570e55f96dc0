// models/scheduling/queue/unschedulable_units.hpp -- rejected units that wait for an event.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "models/scheduling/framework/profile.hpp"
#include "models/scheduling/queue/queue_entries.hpp"

namespace orrery {

// Units that no event can tell apart (same spec, same gang, same rejecting plugins) share a bucket.
// So an event costs at most one hint per bucket and plugin, not per pod. Example: for 1,000
// pods of one spec that are in no gang and were rejected by one plugin, an event costs one hint.
class UnschedulableUnits {
 public:
  // Whether `event` may help a pod that `plugin` (index in the profile) rejected.
  using Hint = std::function<QueueHint(uint8_t plugin, PodId pod, const ClusterEvent& event)>;
  struct Helped {
    std::vector<uint32_t> after_backoff;
    // These units skip the backoff: a plugin that returned Pending now gives the hint Queue.
    std::vector<uint32_t> at_once;
  };

  void insert(QueueEntries& entries, uint32_t unit);
  void erase(QueueEntries& entries, uint32_t unit);
  Helped helped_by(const ClusterEvent& event, const Hint& hint) const;

  // Returns the first multiple of 30 s at which the oldest unit has been unschedulable for
  // `unschedulable_max` or longer. Time::max() if there is no unit.
  Time next_leftover(const QueueEntries& entries, Duration unschedulable_max);
  // The oldest unit if next_leftover() is not later than `now`; else empty. The caller must erase
  // the unit before the next call.
  std::optional<uint32_t> take_leftover(const QueueEntries& entries, Duration unschedulable_max,
                                        Time now);

 private:
  using Key = std::tuple<uint32_t, uint32_t, uint32_t, uint32_t>;  // spec, gang, plugins, pending
  struct Leftover {
    Time entered;
    uint32_t unit;
    uint64_t order;
  };

  static Key key_of(const QueueEntry& e) {
    return {e.spec.index, e.view.gang.index, e.plugins, e.pending_plugins};
  }
  static bool is_stale(const QueueEntries& entries, const Leftover& leftover) {
    const QueueEntry& e = entries[leftover.unit];
    return e.place != QueuePlace::Unschedulable || e.order != leftover.order;
  }

  std::map<Key, std::vector<uint32_t>> buckets_;
  // One entry for each unit that became unschedulable, the oldest first. An entry becomes stale
  // when its unit is erased; stale entries are skipped.
  std::deque<Leftover> leftovers_;
};

}  // namespace orrery
