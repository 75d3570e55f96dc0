// models/workload/traces/synthesis/quantiles.hpp -- distributions as they were seen: kept, drawn
// from and compared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace orrery::traces {

// A sample in order of size, to draw from. Up to 1,024 values are all kept; more are cut into as
// many equal slices, each kept as its mean, so that draws have the mean of the sample.
class Quantiles {
 public:
  static constexpr size_t kPointsMax = 1024;
  explicit Quantiles(std::vector<double> sample);  // not empty
  double at(double share) const;                   // share from 0 to 1

 private:
  std::vector<double> points_;
};

// Kolmogorov-Smirnov: the largest difference between the shares of two samples up to any value.
double ks_distance(std::vector<double> a, std::vector<double> b);
// What the distance exceeds in one of twenty pairs of samples of one continuous distribution.
double ks_bound(size_t a, size_t b);

}  // namespace orrery::traces
