// models/workload/traces/synthesis/quantiles.hpp -- empirical distributions: stored, drawn from and
// compared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace orrery::traces {

// A sorted sample to draw from. Up to 1,024 values are stored. A larger sample is cut into 1,024
// slices, whose sizes differ by at most one value. The mean of each slice is stored, so the mean of
// draws is close to that of the sample.
class Quantiles {
 public:
  static constexpr size_t kPointsMax = 1024;
  explicit Quantiles(std::vector<double> sample);  // must not be empty
  double at(double share) const;                   // share from 0 to 1

 private:
  std::vector<double> points_;
};

// The Kolmogorov-Smirnov distance: the largest difference, over all x, between the two samples'
// shares of values up to x. Example: for samples {1, 2} and {2, 3} and x = 1 the shares are 1/2 and
// 0, and for x = 2 they are 1 and 1/2. So the distance is 1/2.
double ks_distance(std::vector<double> a, std::vector<double> b);
// The critical value of ks_distance() at the 5 % level, for samples of `a` and `b` values. If both
// samples come from the same continuous distribution, about one distance in twenty is greater.
double ks_bound(size_t a, size_t b);

}  // namespace orrery::traces
