#include "models/scheduling/queue/unit_heap.hpp"

namespace orrery {

bool UnitHeap::before(const QueueEntries& entries, uint32_t a, uint32_t b) const {
  const QueueEntry& x = entries[a];
  const QueueEntry& y = entries[b];
  if (order_ == Order::BackoffEnd && x.backoff_until != y.backoff_until) {
    return x.backoff_until < y.backoff_until;
  }
  return entries.sorts_before(x, y);
}

void UnitHeap::push(QueueEntries& entries, uint32_t unit) {
  units_.push_back(unit);
  sift_up(entries, units_.size() - 1);
}

void UnitHeap::erase(QueueEntries& entries, uint32_t unit) {
  size_t hole = entries[unit].slot;
  const uint32_t last = units_.back();
  units_.pop_back();
  if (last == unit) return;
  // The last unit replaces the erased one, but usually belongs near the leaves. So the hole first
  // sinks to a leaf, always to the smaller child. This needs half the comparisons of a usual
  // sift-down. The last unit then rises from there.
  for (size_t child = 2 * hole + 1; child < units_.size(); child = 2 * hole + 1) {
    if (child + 1 < units_.size() && before(entries, units_[child + 1], units_[child])) ++child;
    units_[hole] = units_[child];
    entries[units_[hole]].slot = static_cast<uint32_t>(hole);
    hole = child;
  }
  units_[hole] = last;
  sift_up(entries, hole);
}

void UnitHeap::sift_up(QueueEntries& entries, size_t hole) {
  const uint32_t unit = units_[hole];
  while (hole > 0) {
    const size_t parent = (hole - 1) / 2;
    if (!before(entries, unit, units_[parent])) break;
    units_[hole] = units_[parent];
    entries[units_[hole]].slot = static_cast<uint32_t>(hole);
    hole = parent;
  }
  units_[hole] = unit;
  entries[unit].slot = static_cast<uint32_t>(hole);
}

void UnitHeap::sift_down(QueueEntries& entries, size_t hole) {
  const uint32_t unit = units_[hole];
  for (size_t child = 2 * hole + 1; child < units_.size(); child = 2 * hole + 1) {
    if (child + 1 < units_.size() && before(entries, units_[child + 1], units_[child])) ++child;
    if (!before(entries, units_[child], unit)) break;
    units_[hole] = units_[child];
    entries[units_[hole]].slot = static_cast<uint32_t>(hole);
    hole = child;
  }
  units_[hole] = unit;
  entries[unit].slot = static_cast<uint32_t>(hole);
}

}  // namespace orrery
