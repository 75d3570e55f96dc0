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

// Takes all jobs, then returns them sorted by submission. Jobs submitted at one instant keep the
// order in which they were added. Jobs are sorted in runs of `run` jobs. All runs but the last are
// written to an unnamed temporary file; then all runs are merged. Texts of jobs are not copied, so
// the pool of these texts must outlive the sorter. Example: with runs of 3, submissions 5 2 9 | 1
// 7 3 become runs 2 5 9 and 1 3 7, and are merged to 1 2 3 5 7 9.
class JobSorter {
 public:
  static constexpr size_t kRun = 500'000;  // jobs, which take 140 MB

  explicit JobSorter(size_t run = kRun) : run_{run} {}

  void add(const TraceJob& job);  // never call after pop()
  size_t size() const { return size_; }
  TraceJob pop();  // the sorter must not be empty
  // What went wrong with the temporary file; empty: no error. After an error no job may be popped.
  const std::string& error() const { return error_; }
  bool has_spilled() const { return !spilled_.empty(); }

 private:
  struct Run {
    std::vector<TraceJob> block;  // jobs read ahead from the file
    size_t at = 0;                // index in `block` of the next job
    int64_t offset = 0;           // file position of the jobs that follow those in `block`
    size_t left = 0;              // number of this run's jobs in the file from `offset` on
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
  std::vector<TraceJob> jobs_;   // jobs of the last run
  std::vector<uint32_t> order_;  // order of jobs_, once sorted
  std::vector<Run> spilled_;
  // Heap of run numbers. The run whose next job was submitted first is on top. The last run, which
  // is in jobs_, has number spilled_.size().
  std::vector<size_t> heap_;
  size_t next_ = 0;  // index into order_
  std::unique_ptr<std::FILE, Close> file_;
  std::string error_;
};

}  // namespace orrery::traces
