// models/workload/traces/reorder.hpp -- puts jobs that are almost in order in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/workload/traces/trace_job.hpp"

namespace orrery::traces {

// Holds up to a capacity of jobs and gives back the earliest; jobs submitted at one instant keep
// the order of the file. Sorted input costs O(1) a job. What is moved are keys, not jobs.
class ReorderBuffer {
 public:
  static constexpr size_t kWindow = 4096;       // rows a job may be late
  static constexpr size_t kAllMax = 4'000'000;  // jobs, when everything is sorted: 1 GB

  // False: everything is taken in first, then sorted once.
  explicit ReorderBuffer(bool is_window) : is_window_{is_window} {}

  bool is_full() const { return size() >= (is_window_ ? kWindow : kAllMax); }
  bool is_window() const { return is_window_; }
  size_t size() const { return keys_.size() - head_; }
  void push(const TraceJob& job);
  TraceJob pop();  // the buffer must not be empty

 private:
  struct Key {
    Time submit;
    uint32_t slot;
  };
  bool is_window_;
  bool is_sorted_ = true;
  size_t head_ = 0;  // keys before it were popped
  std::vector<Key> keys_;
  std::vector<TraceJob> slots_;
  std::vector<uint32_t> free_slots_;
};

}  // namespace orrery::traces
