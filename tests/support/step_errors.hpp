// tests/support/step_errors.hpp -- differences between two lists of mean step times.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace orrery::test {

// The relative errors of the step times `rate`, compared with the step times `traced`.
struct StepErrors {
  std::vector<double> sizes;  // absolute differences in rising order
  double mean = 0;            // mean of the signed differences

  StepErrors(std::span<const double> rate, std::span<const double> traced) {
    for (size_t i = 0; i < rate.size(); ++i) {
      const double error = rate[i] / traced[i] - 1;
      mean += error / static_cast<double>(rate.size());
      sizes.push_back(std::abs(error));
    }
    std::ranges::sort(sizes);
  }
};
inline double quantile_of(std::span<const double> sorted, double part) {
  return sorted[static_cast<size_t>(std::ceil(part * static_cast<double>(sorted.size()))) - 1];
}

}  // namespace orrery::test
