#include "models/workload/training/communicator_init.hpp"

#include <gtest/gtest.h>

namespace orrery {
namespace {

TEST(CommunicatorInit, GrowsAsItsMethodSays) {
  const auto seconds = [](CommunicatorMethod method, int32_t ranks) {
    return communicator_init_time({.method = method, .discovery = {}, .kernel_loading = {}}, ranks)
        .seconds();
  };
  EXPECT_NEAR(seconds(CommunicatorMethod::Redis, 2000),
              4 * seconds(CommunicatorMethod::Redis, 1000), 1e-6);
  EXPECT_NEAR(seconds(CommunicatorMethod::TcpStore, 100) - seconds(CommunicatorMethod::Redis, 100),
              33.5, 1e-6);
  EXPECT_NEAR(seconds(CommunicatorMethod::Ordered, 1000), 2.4, 1e-6);
  EXPECT_NEAR(seconds(CommunicatorMethod::Ordered, 100'000), 30, 1e-6);
}

TEST(CommunicatorInit, AddsTheLookUpAndTheLoadingOfKernels) {
  CommunicatorParams params{.method = CommunicatorMethod::Ordered};
  const Duration bare = communicator_init_time(params, 8);
  params.discovery = 3_s;
  params.kernel_loading = 52_s;
  EXPECT_EQ(communicator_init_time(params, 8), bare + 55_s);
}

TEST(CommunicatorInit, OfASingleRankIsNothing) {
  EXPECT_EQ(communicator_init_time({.discovery = 3_s}, 1), Duration{});
}

}  // namespace
}  // namespace orrery
