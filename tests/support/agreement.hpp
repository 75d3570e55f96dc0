// tests/support/agreement.hpp -- jobs whose steps go on at a rate, against the same step by step.
#pragma once

#include <gtest/gtest.h>

#include <cmath>

#include "sim/core/time.hpp"

namespace orrery::test {

// Plays are to be the traced runs to the nanosecond. A double that rounds otherwise may still end
// an exchange a nanosecond later, and which of two gangs is first at a link may turn on that.
class Agreement {
 public:
  static constexpr double kOfAll = 1e-6, kOfNearlyAll = 1e-9, kNearlyAll = 0.95;

  ~Agreement() {
    EXPECT_GT(jobs_, 0);
    EXPECT_GE(exact_, kNearlyAll * jobs_) << "of " << jobs_ << " jobs";
  }
  void expect(Duration rate, Duration step_by_step, size_t job) {
    const double difference = rate.seconds() / step_by_step.seconds() - 1;
    EXPECT_NEAR(difference, 0, kOfAll) << "job " << job;
    ++jobs_;
    exact_ += std::abs(difference) < kOfNearlyAll ? 1 : 0;
  }
  int jobs() const { return jobs_; }

 private:
  int jobs_ = 0, exact_ = 0;
};

}  // namespace orrery::test
