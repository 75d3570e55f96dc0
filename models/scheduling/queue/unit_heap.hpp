// models/scheduling/queue/unit_heap.hpp -- a binary heap from which any unit can be removed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/scheduling/queue/queue_entries.hpp"

namespace orrery {

// QueueEntry::slot is the index of the unit in its heap, so a unit in the middle is removed in
// O(log n) for n units. A unit must be in only one heap at a time.
class UnitHeap {
 public:
  // BackoffEnd: the unit whose backoff ends first is first. Units with equal ends are in the order
  // of QueueSort.
  enum class Order : uint8_t { QueueSort, BackoffEnd };

  explicit UnitHeap(Order order) : order_{order} {}

  bool empty() const { return units_.empty(); }
  size_t size() const { return units_.size(); }
  uint32_t front() const { return units_.front(); }
  const std::vector<uint32_t>& units() const { return units_; }  // in no particular order
  void push(QueueEntries& entries, uint32_t unit);
  void erase(QueueEntries& entries, uint32_t unit);
  // To be called after a change of the front unit's entry that may move the unit further back.
  void front_moved_back(QueueEntries& entries) { sift_down(entries, 0); }

 private:
  bool before(const QueueEntries& entries, uint32_t a, uint32_t b) const;
  void sift_up(QueueEntries& entries, size_t hole);
  void sift_down(QueueEntries& entries, size_t hole);

  Order order_;
  std::vector<uint32_t> units_;
};

}  // namespace orrery
