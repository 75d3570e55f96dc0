// models/scheduling/contract/job_tree.hpp -- jobs in rank order, with searches for jobs that fit.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/scheduling/contract/policy_types.hpp"
#include "sim/core/time.hpp"

namespace orrery {

using JobSlot = uint32_t;  // a job known to the job queue; reused once the job is over
constexpr JobSlot kNoJob = UINT32_MAX;

// Lower rank first; equal ranks by submission, then by serial number.
struct JobKey {
  int64_t rank = 0;
  Time submitted = {};
  uint64_t serial = 0;
  constexpr auto operator<=>(const JobKey&) const = default;
};

// A balanced tree (a treap, its shape fixed by the serial numbers). Every subtree stores its
// smallest count, its shortest estimate and the sum of its counts. Operations cost O(log n). Only a
// search for two properties at once may cost more: a subtree may have each of them in a different
// job, and is then searched without result. Example: with counts 8, 2, 4 from the front, find(free
// = 3) skips the first job and returns the second, and reach(9) stops at the second as well.
class ORRERY_API JobTree {
 public:
  struct Limits {                       // limits for jobs that start beside a reservation
    int64_t free = INT64_MAX;           // largest count
    Duration window = Duration::max();  // longest estimate, except for jobs of at most `extra`
    int64_t extra = 0;
  };
  struct Reach {
    JobSlot job = kNoJob;
    int64_t sum = 0;  // sum of the counts up to this job
  };

  void insert(JobSlot job, const JobKey& key, int64_t count, Duration estimate);
  void erase(JobSlot job);
  bool contains(JobSlot job) const { return job < entries_.size() && entries_[job].is_in; }
  size_t size() const { return size_; }
  bool is_empty() const { return root_ == kNoJob; }
  const JobKey& key(JobSlot job) const { return nodes_[job].key; }

  JobSlot first() const;
  JobSlot next(JobSlot job) const { return after(root_, nodes_[job].key, nullptr); }
  // The first job within the limits; find_after: the first such job after `key`.
  JobSlot find(const Limits& limits) const { return any(root_, limits); }
  JobSlot find_after(const JobKey& key, const Limits& limits) const {
    return after(root_, key, &limits);
  }
  // The first job at which the counts from the front add up to `needed`; kNoJob if none.
  Reach reach(int64_t needed) const;
  int64_t sum_through(int64_t rank) const;  // of the counts of all jobs up to this rank
  template <class F>
  void for_each(F&& f) const {  // in order; `f` must not change the tree
    walk(root_, f);
  }

 private:
  struct alignas(64) Node {  // one cache line
    JobKey key;
    JobSlot left = kNoJob, right = kNoJob;
    int64_t count = 0;
    int64_t count_min = 0, estimate_min = 0, sum = 0;  // of the subtree
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
  std::vector<JobSlot> passed_;  // scratch
  JobSlot root_ = kNoJob;
  size_t size_ = 0;
};

}  // namespace orrery
