#include "models/workload/traces/job_sorter.hpp"

#include <algorithm>
#include <cerrno>
#include <numeric>
#include <system_error>
#include <type_traits>

#include "sim/core/check.hpp"

namespace orrery::traces {
namespace {

static_assert(std::is_trivially_copyable_v<TraceJob>, "the bytes of a job are written to the file");
constexpr size_t kJobsAtATime = 256;  // read from a sorted run in the file

}  // namespace

void JobSorter::add(const TraceJob& job) {
  ORRERY_CHECK(!is_merging_, "jobs added after the first pop() would be out of order");
  if (jobs_.size() == run_) spill();
  jobs_.push_back(job);
  ++size_;
}

void JobSorter::sort() {
  order_.resize(jobs_.size());
  std::iota(order_.begin(), order_.end(), 0U);
  std::ranges::stable_sort(order_, {}, [this](uint32_t i) { return jobs_[i].submit; });
}

void JobSorter::fail(const char* what) {
  if (!error_.empty()) return;
  error_ = std::string{"a temporary file, for a trace too large to sort in memory, "} + what +
           ": " + std::generic_category().message(errno);
}

void JobSorter::spill() {
  if (!file_ && error_.empty()) {
    file_.reset(std::tmpfile());
    if (!file_) fail("cannot be made");
  }
  sort();
  Run run{.block = {}, .at = 0, .offset = 0, .left = jobs_.size()};
  if (!spilled_.empty()) {
    const Run& last = spilled_.back();
    run.offset = last.offset + static_cast<int64_t>(last.left * sizeof(TraceJob));
  }
  for (const uint32_t i : order_) {
    if (!error_.empty()) break;
    if (std::fwrite(&jobs_[i], sizeof(TraceJob), 1, file_.get()) != 1) fail("cannot be written");
  }
  spilled_.push_back(std::move(run));
  jobs_.clear();
}

bool JobSorter::refill(Run& run) {
  run.at = 0;
  run.block.resize(std::min(kJobsAtATime, run.left));
  if (run.block.empty()) return false;
  const bool is_read = std::fseek(file_.get(), static_cast<long>(run.offset), SEEK_SET) == 0 &&
                       std::fread(run.block.data(), sizeof(TraceJob), run.block.size(),
                                  file_.get()) == run.block.size();
  if (!is_read) fail("cannot be read");
  run.left -= run.block.size();
  run.offset += static_cast<int64_t>(run.block.size() * sizeof(TraceJob));
  return is_read;
}

// Jobs submitted at one instant keep the order of the input: the job of the lower run number is
// popped first.
bool JobSorter::is_later(size_t a, size_t b) const {
  const auto first = [this](size_t run) {
    return run == spilled_.size() ? jobs_[order_[next_]].submit
                                  : spilled_[run].block[spilled_[run].at].submit;
  };
  return first(a) != first(b) ? first(a) > first(b) : a > b;
}

void JobSorter::start_merge() {
  is_merging_ = true;
  sort();
  for (size_t run = 0; run < spilled_.size(); ++run) {
    if (refill(spilled_[run])) heap_.push_back(run);
  }
  if (!jobs_.empty()) heap_.push_back(spilled_.size());
  std::ranges::make_heap(heap_, [this](size_t a, size_t b) { return is_later(a, b); });
}

TraceJob JobSorter::pop() {
  ORRERY_CHECK(size_ > 0, "an empty sorter has no earliest job");
  if (!is_merging_) start_merge();
  const auto by_first = [this](size_t a, size_t b) { return is_later(a, b); };
  std::ranges::pop_heap(heap_, by_first);
  const size_t from = heap_.back();
  const bool is_last_run = from == spilled_.size();
  TraceJob job;
  bool has_more = false;
  if (is_last_run) {
    job = jobs_[order_[next_++]];
    has_more = next_ < order_.size();
  } else {
    Run& run = spilled_[from];
    job = run.block[run.at++];
    has_more = run.at < run.block.size() || refill(run);
  }
  if (has_more) {
    std::ranges::push_heap(heap_, by_first);
  } else {
    heap_.pop_back();
  }
  // If the temporary file could not be read, the remaining jobs are lost, and the sorter counts as
  // empty. The caller finds the reason in error().
  size_ = error_.empty() ? size_ - 1 : 0;
  return job;
}

}  // namespace orrery::traces
