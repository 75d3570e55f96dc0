#include "models/workload/traces/reorder.hpp"

#include <utility>

#include "sim/core/check.hpp"

namespace orrery::traces {

void ReorderBuffer::push(const TraceJob& job) {
  if (!is_window_) return sorter_.add(job);
  uint32_t slot = static_cast<uint32_t>(slots_.size());
  if (free_slots_.empty()) {
    slots_.push_back(job);
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
    slots_[slot] = job;
  }
  if (head_ > kWindow) {
    keys_.erase(keys_.begin(), keys_.begin() + static_cast<std::ptrdiff_t>(head_));
    head_ = 0;
  }
  keys_.push_back({job.submit, slot});
  for (size_t i = keys_.size() - 1; i > head_ && keys_[i].submit < keys_[i - 1].submit; --i) {
    std::swap(keys_[i], keys_[i - 1]);
  }
}

TraceJob ReorderBuffer::pop() {
  ORRERY_CHECK(size() > 0, "an empty buffer has no earliest job");
  if (!is_window_) return sorter_.pop();
  const uint32_t slot = keys_[head_++].slot;
  free_slots_.push_back(slot);
  return slots_[slot];
}

}  // namespace orrery::traces
