#include "models/scheduling/queue/unschedulable_units.hpp"

#include <bit>

namespace orrery {
namespace {

// Interval of the searches for units that have been unschedulable for too long.
constexpr Duration kLeftoverPeriod = 30_s;

// The time of the search that removes a unit which became unschedulable at `entered`: the first
// multiple of kLeftoverPeriod at or after `entered + unschedulable_max`.
Time leftover_due(Time entered, Duration unschedulable_max) {
  const int64_t due = (entered + unschedulable_max).ns;
  return {(due + kLeftoverPeriod.ns - 1) / kLeftoverPeriod.ns * kLeftoverPeriod.ns};
}

}  // namespace

void UnschedulableUnits::insert(QueueEntries& entries, uint32_t unit) {
  QueueEntry& e = entries[unit];
  auto& bucket = buckets_[key_of(e)];
  e.slot = static_cast<uint32_t>(bucket.size());
  bucket.push_back(unit);
  leftovers_.push_back({e.entered, unit, e.order});
}

// The last unit of the bucket takes the slot of the erased unit. The order of units in a bucket
// does not matter, because the queue that a unit enters next sorts its units.
void UnschedulableUnits::erase(QueueEntries& entries, uint32_t unit) {
  const QueueEntry& e = entries[unit];
  const auto found = buckets_.find(key_of(e));
  auto& bucket = found->second;
  bucket[e.slot] = bucket.back();
  entries[bucket[e.slot]].slot = e.slot;
  bucket.pop_back();
  if (bucket.empty()) buckets_.erase(found);
}

UnschedulableUnits::Helped UnschedulableUnits::helped_by(const ClusterEvent& event,
                                                         const Hint& hint) const {
  Helped helped;
  for (const auto& [key, bucket] : buckets_) {
    const PodId sample{bucket.front()};
    const uint32_t plugins = std::get<2>(key);
    const uint32_t pending = std::get<3>(key);
    bool moves = false, moves_at_once = false;
    for (uint32_t rest = plugins; rest != 0 && !moves_at_once; rest &= rest - 1) {
      const auto plugin = static_cast<uint8_t>(std::countr_zero(rest));
      if (hint(plugin, sample, event) == QueueHint::Skip) continue;
      moves = true;
      if ((pending >> plugin & 1) != 0)
        moves_at_once = true;
      else if (pending == 0)
        break;
    }
    if (!moves) continue;
    auto& units = moves_at_once ? helped.at_once : helped.after_backoff;
    units.insert(units.end(), bucket.begin(), bucket.end());
  }
  return helped;
}

Time UnschedulableUnits::next_leftover(const QueueEntries& entries, Duration unschedulable_max) {
  while (!leftovers_.empty() && is_stale(entries, leftovers_.front())) leftovers_.pop_front();
  if (leftovers_.empty()) return Time::max();
  return leftover_due(leftovers_.front().entered, unschedulable_max);
}

std::optional<uint32_t> UnschedulableUnits::take_leftover(const QueueEntries& entries,
                                                          Duration unschedulable_max, Time now) {
  while (!leftovers_.empty() &&
         leftover_due(leftovers_.front().entered, unschedulable_max) <= now) {
    const Leftover old = leftovers_.front();
    leftovers_.pop_front();
    if (!is_stale(entries, old)) return old.unit;
  }
  return std::nullopt;
}

}  // namespace orrery
