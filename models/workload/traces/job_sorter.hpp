// models/workload/traces/job_sorter.hpp -- sorts any number of jobs by submission in bounded
// memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "models/workload/traces/formats/trace_job.hpp"

namespace orrery::traces {

// Takes everything in, then gives it back in order; jobs submitted at one instant keep the order in
// which they came. What does not fit into one run of jobs is sorted run by run, goes to a temporary
// file that has no name, and is merged. The texts that jobs point at stay where they are: their
// pool must outlive the sorter.
class JobSorter {
 public:
  static constexpr size_t kRun = 500'000;  // jobs: 140 MB

  explicit JobSorter(size_t run = kRun) : run_{run} {}

  void add(const TraceJob& job);  // never after pop()
  size_t size() const { return size_; }
  TraceJob pop();  // the sorter must not be empty
  // Why the temporary file could not be used; empty: all is well. Then nothing may be popped.
  const std::string& error() const { return error_; }
  bool has_spilled() const { return !spilled_.empty(); }

 private:
  struct Run {
    std::vector<TraceJob> block;  // read ahead
    size_t at = 0;                // the next one in it
    int64_t offset = 0;           // in the file, of what follows the block
    size_t left = 0;              // jobs there
  };
  struct Close {
    void operator()(std::FILE* file) const { static_cast<void>(std::fclose(file)); }
  };

  void sort();
  void spill();
  void start_merge();
  bool refill(Run& run);
  void fail(const char* what);
  bool is_later(size_t a, size_t b) const;

  size_t run_;
  size_t size_ = 0;
  bool is_merging_ = false;
  std::vector<TraceJob> jobs_;   // of the last run
  std::vector<uint32_t> order_;  // of jobs_, once sorted
  std::vector<Run> spilled_;
  std::vector<size_t> heap_;  // runs by their first jobs; the last run is number spilled_.size()
  size_t next_ = 0;           // of order_
  std::unique_ptr<std::FILE, Close> file_;
  std::string error_;
};

}  // namespace orrery::traces
