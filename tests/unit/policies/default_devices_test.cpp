#include <gtest/gtest.h>

#include <bit>
#include <set>

#include "tests/support/fake_handle.hpp"

namespace orrery {
namespace {

class DefaultDevicesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Resources has;
    has[Resource::Gpu] = 8 * kMilli;
    handle.add_node(has);
    handle.state.seal();
  }
  void take(GpuMask gpus, int32_t milli) {
    PodSpec spec;
    spec.gpus = std::popcount(gpus);
    spec.gpu_milli = milli;
    handle.state.take({0}, spec.cluster_request(), {gpus, milli});
  }
  GpuMask pick(const std::unique_ptr<Policy>& policy, int32_t gpus, int32_t milli = 1000) {
    PodSpec spec;
    spec.gpus = gpus;
    spec.gpu_milli = milli;
    return as<PickDevices>(policy).pick(handle.cycle(handle.add_pod(spec)), {0});
  }
  FakeHandle handle;
};

TEST_F(DefaultDevicesTest, WholeGpusAreTakenByIndex) {
  const auto policy = make_policy(handle, "DefaultDevices");
  take(0b0000'0101, 1000);
  EXPECT_EQ(pick(policy, 3), 0b0001'1010);
  EXPECT_EQ(pick(policy, 6), 0b1111'1010);
  EXPECT_EQ(pick(policy, 0), 0);
}

TEST_F(DefaultDevicesTest, ASharedGpuIsNotIdle) {
  take(0b1, 100);
  EXPECT_EQ(pick(make_policy(handle, "DefaultDevices"), 1), 0b10);
}

TEST_F(DefaultDevicesTest, AShareGoesWhereTheLeastIsLeft) {
  take(0b0010, 300);
  take(0b0100, 500);
  take(0b1000, 500);
  const auto best = make_policy(handle, "DefaultDevices");
  EXPECT_EQ(pick(best, 1, 500), 0b0100) << "lowest index of the tightest two";
  EXPECT_EQ(pick(best, 1, 600), 0b0010);
  EXPECT_EQ(pick(best, 1, 900), 0b0001);
  const auto lowest = make_policy(handle, "DefaultDevices", "{strategy: lowest_index}");
  EXPECT_EQ(pick(lowest, 1, 500), 0b0001);
}

TEST_F(DefaultDevicesTest, RandomPicksReachEveryIdleGpuAndNoOther) {
  take(0b1000'0001, 1000);
  const auto policy = make_policy(handle, "DefaultDevices", "{strategy: random}");
  uint32_t reached = 0;
  for (int i = 0; i < 200; ++i) {
    const GpuMask picked = pick(policy, 2);
    EXPECT_EQ(std::popcount(picked), 2);
    reached |= picked;
  }
  EXPECT_EQ(reached, 0b0111'1110u);
}

}  // namespace
}  // namespace orrery
