// models/scheduling/queue/queue_entries.hpp -- the state of each unit in the scheduling queue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "models/scheduling/contract/policy_types.hpp"

namespace orrery {

enum class QueuePlace : uint8_t { None, Gated, Held, Active, Backoff, ErrorBackoff, Unschedulable };

struct QueueEntry {
  QueuedUnit view;
  SpecId spec;
  QueuePlace place = QueuePlace::None;
  uint32_t slot = 0;  // index of the unit in the heap or bucket that holds it
  // Bit sets: plugins that rejected the last attempt, and plugins that returned Pending.
  uint32_t plugins = 0, pending_plugins = 0;
  int32_t errors = 0, unschedulable_count = 0;
  // If QueueSort puts neither unit first, the unit with the lower `order` is first.
  uint64_t order = 0;
  Time backoff_until;  // a whole second
  Time entered;        // when the latest attempt failed
};

// The entries of all units. A unit has the index of its pod or, if it is a gang, of its first pod.
// QueueSort defines the order of units.
class QueueEntries {
 public:
  using Less = std::function<bool(const QueuedUnit&, const QueuedUnit&)>;

  explicit QueueEntries(Less less) : less_{std::move(less)} {}

  QueueEntry& operator[](uint32_t unit) { return entries_[unit]; }
  const QueueEntry& operator[](uint32_t unit) const { return entries_[unit]; }
  bool contains(uint32_t unit) const { return unit < entries_.size(); }
  QueueEntry& find_or_add(uint32_t unit) {
    if (!contains(unit)) entries_.resize(size_t{unit} + 1);
    return entries_[unit];
  }
  bool sorts_before(const QueueEntry& a, const QueueEntry& b) const {
    if (less_(a.view, b.view)) return true;
    if (less_(b.view, a.view)) return false;
    return a.order < b.order;
  }

 private:
  std::vector<QueueEntry> entries_;
  Less less_;
};

}  // namespace orrery
