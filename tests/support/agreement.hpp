// tests/support/agreement.hpp -- jobs whose steps go on at a rate, against the same step by step.
#pragma once

#include <gtest/gtest.h>

#include <cmath>

#include "sim/core/time.hpp"

namespace orrery::test {

// Which of two gangs is first at a link may turn on a nanosecond, and all later steps on that: then
// runs that are played step by step differ as much from one another if a job comes 1 ns later. So
// all must agree, and nearly all by far better.
class Agreement {
 public:
  static constexpr double kOfAll = 1e-3, kOfNearlyAll = 1e-6, kNearlyAll = 0.9;

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
