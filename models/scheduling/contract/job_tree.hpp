// models/scheduling/contract/job_tree.hpp -- jobs in a chosen order, with searches for those that
// fit.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/scheduling/contract/policy_types.hpp"
#include "sim/core/time.hpp"

namespace orrery {

using JobSlot = uint32_t;  // a job that the job queue knows; reused once the job is over
constexpr JobSlot kNoJob = UINT32_MAX;

// Lower rank first; equal ranks by submission, then by serial number.
struct JobKey {
  int64_t rank = 0;
  Time submitted = {};
  uint64_t serial = 0;
  constexpr auto operator<=>(const JobKey&) const = default;
};

// A balanced tree (a treap, its shape fixed by the serial numbers) of which every subtree knows
// the smallest count and the shortest estimate in it, and the sum of the counts. What it does
// costs O(log n), unless a search is for two properties at once: then a subtree may hold each
// of them in another job and be searched in vain.
class ORRERY_API JobTree {
 public:
  struct Limits {                       // what may be started beside a reservation
    int64_t free = INT64_MAX;           // no larger job
    Duration window = Duration::max();  // no longer job, unless it is within `extra`
    int64_t extra = 0;
  };
  struct Reach {
    JobSlot job = kNoJob;
    int64_t sum = 0;  // of its count and all before it
  };

  void insert(JobSlot job, const JobKey& key, int64_t count, Duration estimate);
  void erase(JobSlot job);
  bool contains(JobSlot job) const { return job < entries_.size() && entries_[job].is_in; }
  size_t size() const { return size_; }
  bool is_empty() const { return root_ == kNoJob; }
  const JobKey& key(JobSlot job) const { return nodes_[job].key; }

  JobSlot first() const;
  JobSlot next(JobSlot job) const { return after(root_, nodes_[job].key, nullptr); }
  // The first job within the limits; the first one after `key`.
  JobSlot find(const Limits& limits) const { return any(root_, limits); }
  JobSlot find_after(const JobKey& key, const Limits& limits) const {
    return after(root_, key, &limits);
  }
  // The first job with which the counts from the front add up to `needed`; none: kNoJob.
  Reach reach(int64_t needed) const;
  int64_t sum_through(int64_t rank) const;  // of the counts of all jobs up to this rank
  template <class F>
  void for_each(F&& f) const {  // in order; `f` must not change the tree
    walk(root_, f);
  }

 private:
  struct alignas(64) Node {  // one line of the cache
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
  std::vector<Entry> entries_;   // likewise
  std::vector<JobSlot> passed_;  // scratch
  JobSlot root_ = kNoJob;
  size_t size_ = 0;
};

}  // namespace orrery
