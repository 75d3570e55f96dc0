// models/workload/traces/tables/distinct_counter.hpp -- counts distinct numbers in bounded memory.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>

#include "sim/core/scatter.hpp"

namespace orrery::traces {

// Stores the k smallest hashes of the numbers. The count is exact for up to k distinct numbers. For
// more numbers, the count is estimated as (k - 1) / s. Here s is the k-th smallest hash, divided by
// the range of hashes. The standard error is 1 / sqrt(k): 0.2 % for kKept. Example: k = 4, and the
// fourth smallest hash is at 1/100 of the range. Then there are about 3 / (1/100) = 300 numbers.
class DistinctCounter {
 public:
  static constexpr size_t kKept = size_t{1} << 18U;  // 13 MB at most

  explicit DistinctCounter(size_t kept = kKept) : kept_{kept} {}

  void add(int64_t number) {
    const uint64_t hash = draw_of(static_cast<uint64_t>(number), 0);
    if (is_exact() || hash < *smallest_.rbegin()) smallest_.insert(hash);
    if (smallest_.size() <= kept_) return;
    smallest_.erase(std::prev(smallest_.end()));
    has_more_ = true;
  }
  bool is_exact() const { return !has_more_; }
  int64_t count() const {
    if (is_exact()) return static_cast<int64_t>(smallest_.size());
    const double share = static_cast<double>(*smallest_.rbegin()) / std::ldexp(1.0, 64);
    return std::llround(static_cast<double>(kept_ - 1) / share);
  }

 private:
  size_t kept_;
  bool has_more_ = false;  // more than `kept_` distinct numbers were added
  std::set<uint64_t> smallest_;
};

}  // namespace orrery::traces
