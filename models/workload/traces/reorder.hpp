// models/workload/traces/reorder.hpp -- sorts jobs by submission, in a window or in a whole file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "models/workload/traces/formats/trace_job.hpp"
#include "models/workload/traces/job_sorter.hpp"

namespace orrery::traces {

// Holds a window of jobs, or the whole file, and returns the earliest job that it holds. Jobs
// submitted at one instant keep the order of the file. With a window, a job that is in order takes
// constant time. Example: with a window of 2, submissions 1 3 2 4 come out as 1 2 3 4.
class ReorderBuffer {
 public:
  static constexpr size_t kWindow = 4096;  // a job may be late by fewer rows than this

  explicit ReorderBuffer(bool is_window) : is_window_{is_window} {}

  bool is_full() const { return is_window_ && size() >= kWindow; }
  bool is_window() const { return is_window_; }
  size_t size() const { return is_window_ ? keys_.size() - head_ : sorter_.size(); }
  void push(const TraceJob& job);
  TraceJob pop();  // the buffer must not be empty
  const std::string& error() const { return sorter_.error(); }

 private:
  struct Key {
    Time submit;
    uint32_t slot;
  };
  bool is_window_;
  size_t head_ = 0;  // keys before this index were popped
  std::vector<Key> keys_;
  std::vector<TraceJob> slots_;
  std::vector<uint32_t> free_slots_;
  JobSorter sorter_;
};

}  // namespace orrery::traces
