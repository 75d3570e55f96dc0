// models/scheduling/contract/job_tree.hpp -- sorted jobs, with searches for jobs that fit.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/scheduling/contract/policy_types.hpp"
#include "sim/core/time.hpp"

namespace orrery {

using JobSlot = uint32_t;  // index of a job in the job queue; reused once the job is over
constexpr JobSlot kNoJob = UINT32_MAX;

// Jobs are sorted by rank, then by submission, then by serial number.
struct JobKey {
  int64_t rank = 0;
  Time submitted = {};
  uint64_t serial = 0;
  constexpr auto operator<=>(const JobKey&) const = default;
};

// A balanced tree: a treap whose priorities are hashes of serial numbers. The count of a job is the
// amount that it requests of the counted resource (see JobBoard::counts()). Every subtree stores
// its smallest count, its shortest estimate and the sum of its counts. Example: with counts 8, 2, 4
// from the front, find(free = 3) skips the first job and returns the second, and reach(9) stops at
// the second as well. Operations cost O(log n) for n jobs, except a search that limits both count
// and estimate: a subtree whose smallest count and shortest estimate belong to different jobs may
// be searched in vain.
class ORRERY_API JobTree {
 public:
  struct Limits {              // which jobs fit beside a reservation for an earlier job
    int64_t free = INT64_MAX;  // largest count that fits
    // Longest estimate that fits. Jobs with a count of at most `extra` fit with any estimate.
    Duration window = Duration::max();
    int64_t extra = 0;
  };
  struct Reach {
    JobSlot job = kNoJob;
    int64_t sum = 0;  // sum of the counts of this job and all jobs before it
  };

  void insert(JobSlot job, const JobKey& key, int64_t count, Duration estimate);
  void erase(JobSlot job);
  bool contains(JobSlot job) const { return job < entries_.size() && entries_[job].is_in; }
  size_t size() const { return size_; }
  bool is_empty() const { return root_ == kNoJob; }
  const JobKey& key(JobSlot job) const { return nodes_[job].key; }

  JobSlot first() const;
  JobSlot next(JobSlot job) const { return after(root_, nodes_[job].key, nullptr); }
  // find() returns the first job within the limits, find_after() the first such job after `key`.
  // Both return kNoJob if there is none.
  JobSlot find(const Limits& limits) const { return any(root_, limits); }
  JobSlot find_after(const JobKey& key, const Limits& limits) const {
    return after(root_, key, &limits);
  }
  // Adds the counts of jobs from the front until the sum is at least `needed`. Returns the last job
  // added and the sum. The job is kNoJob if the sum of all counts is less than `needed`.
  Reach reach(int64_t needed) const;
  int64_t sum_through(int64_t rank) const;  // sum of the counts of all jobs with at most this rank
  template <class F>
  void for_each(F&& f) const {  // in order of keys; `f` must not change the tree
    walk(root_, f);
  }

 private:
  struct alignas(64) Node {  // one cache line
    JobKey key;
    JobSlot left = kNoJob, right = kNoJob;
    int64_t count = 0;
    int64_t count_min = 0, estimate_min = 0, sum = 0;  // over the subtree
  };
  struct Entry {
    int64_t estimate = 0;
    bool is_in = false;
  };
  void pull(JobSlot n);
  void split(JobSlot root, const JobKey& key, JobSlot& left, JobSlot& right);
  JobSlot merge(JobSlot left, JobSlot right);
  bool is_within(JobSlot n, const Limits& limits) const;
  bool may_hold(const Node& n, const Limits& limits) const;
  JobSlot any(JobSlot root, const Limits& limits) const;
  JobSlot after(JobSlot root, const JobKey& key, const Limits* limits) const;
  template <class F>
  void walk(JobSlot n, F& f) const {
    if (n == kNoJob) return;
    walk(nodes_[n].left, f);
    f(n);
    walk(nodes_[n].right, f);
  }

  std::vector<Node> nodes_;      // by slot
  std::vector<Entry> entries_;   // by slot
  std::vector<JobSlot> passed_;  // scratch of erase()
  JobSlot root_ = kNoJob;
  size_t size_ = 0;
};

}  // namespace orrery
