// models/telemetry/running_quantiles.hpp -- quantiles of any number of values in bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace orrery {

// Exact, by the nearest rank, of up to 131,072 values. Of more, values count by the first eleven
// bits of their binary form, so that a quantile is wrong by at most 1 part in 2,048.
class RunningQuantiles {
 public:
  static constexpr size_t kExactMax = 131'072;

  void add(double value);  // not negative
  uint64_t count() const { return count_; }
  double mean() const;                // NaN of no values, as are the quantiles
  double quantile(uint64_t percent);  // the smallest value that so many do not exceed

 private:
  void spill();

  uint64_t count_ = 0;
  double sum_ = 0;
  std::vector<float> values_;     // empty once there are more than kExactMax
  std::vector<uint64_t> counts_;  // by the leading bits of the float
};

}  // namespace orrery
