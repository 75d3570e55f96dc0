// models/telemetry/running_quantiles.hpp -- quantiles of any number of values in bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace orrery {

// Values are stored as float. With up to 131,072 values, a quantile is one of the stored values
// (nearest rank). With more values, only eleven significant bits of each value are kept, so a
// quantile has an error of at most 1 part in 2,048.
class RunningQuantiles {
 public:
  static constexpr size_t kExactMax = 131'072;

  void add(double value);  // not negative
  uint64_t count() const { return count_; }
  double mean() const;  // NaN without values, like the quantiles
  // The smallest value v such that at least `percent` % of all values are at most v.
  double quantile(uint64_t percent);

 private:
  void spill();

  uint64_t count_ = 0;
  double sum_ = 0;
  std::vector<float> values_;     // empty once more than kExactMax were added
  std::vector<uint64_t> counts_;  // number of values, by the leading bits of the float
};

}  // namespace orrery
