// tests/support/agreement.hpp -- compares runs with `steps: rate` to runs with `steps: traced`.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "sim/core/time.hpp"

namespace orrery::test {

// Limits for the relative differences of run times. `mean` bounds the absolute value of their mean.
// `most` bounds the 95th percentile of their absolute values.
struct Bounds {
  double mean = 0, most = 0;
};
// Limits for whole runs in which gangs share links or stores, or in which faults occur. In such
// runs a job that ends late delays others.
constexpr Bounds kSharing{.mean = 0.02, .most = 0.1};

class Agreement {
 public:
  explicit Agreement(Bounds bounds) : bounds_{bounds} {}
  Agreement(const Agreement&) = delete;
  Agreement& operator=(const Agreement&) = delete;
  ~Agreement() {
    std::ranges::sort(sizes_);
    if (sizes_.empty()) {
      ADD_FAILURE() << "no job to compare";
      return;
    }
    const size_t most = static_cast<size_t>(std::ceil(0.95 * static_cast<double>(sizes_.size())));
    const double mean = sum_ / static_cast<double>(sizes_.size());
    EXPECT_LE(std::abs(mean), bounds_.mean) << "of " << sizes_.size() << " jobs";
    EXPECT_LE(sizes_[most - 1], bounds_.most) << "of " << sizes_.size() << " jobs";
    ::testing::Test::RecordProperty("mean", std::to_string(mean));
    ::testing::Test::RecordProperty("most", std::to_string(sizes_[most - 1]));
  }
  void expect(Duration rate, Duration step_by_step) {
    const double difference = rate.seconds() / step_by_step.seconds() - 1;
    sizes_.push_back(std::abs(difference));
    sum_ += difference;
  }
  int jobs() const { return static_cast<int>(sizes_.size()); }

 private:
  Bounds bounds_;
  std::vector<double> sizes_;
  double sum_ = 0;
};

}  // namespace orrery::test
