#include "models/hardware/gpu_power.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace orrery {
namespace {

constexpr GpuPower kA100{.idle = 58, .spin = 77, .busy = 385};

ClusterState nodes_of(uint32_t nodes) {
  ClusterState cluster;
  for (uint32_t i = 0; i < nodes; ++i) {
    NodeSpec spec;
    spec.name = "n";
    spec.name += std::to_string(i);
    spec.allocatable[Resource::Gpu] = 8 * kMilli;
    cluster.add_node(spec);
  }
  cluster.seal();
  return cluster;
}

TEST(GpuPowers, WithoutSpreadGpusAreAsTheirMachineSays) {
  const ClusterState cluster = nodes_of(2);
  const GpuPowers powers{cluster, {kA100}, {}, RngStreams{1}};
  const GpuPower power = powers.of({1}, 7);
  EXPECT_EQ(power.idle, 58);
  EXPECT_EQ(power.spin, 77);
  EXPECT_EQ(power.busy, 385);
  EXPECT_EQ(powers.idle({0}), 58);
  EXPECT_EQ(powers.of({}, 7).busy, 385) << "the mean of all GPUs";
}

TEST(GpuPowers, ASpreadIsThatOfTheLogarithmByNodeAndByJob) {
  constexpr uint32_t kNodes = 2000;
  const ClusterState cluster = nodes_of(kNodes);
  const GpuPowers powers{
      cluster, {kA100}, {.node_spread = 0.1, .training_spread = 0.05}, RngStreams{1}};
  double spin = 0, busy = 0;
  for (uint32_t n = 0; n < kNodes; ++n) {
    const GpuPower power = powers.of({n}, n);
    EXPECT_EQ(power.spin, powers.of({n}, n + 1).spin) << "the same whoever has it";
    EXPECT_EQ(power.busy, powers.of({n ^ 1U}, n).busy) << "the same on all of its nodes";
    EXPECT_LE(power.spin, power.busy);
    spin += std::pow(std::log(power.spin / 77.0), 2);
    busy += std::pow(std::log(power.busy / 385.0), 2);
  }
  EXPECT_NEAR(std::sqrt(spin / kNodes), 0.1, 0.01);
  EXPECT_NEAR(std::sqrt(busy / kNodes), 0.05, 0.005);
  EXPECT_EQ(powers.nominal({0}).busy, 385);
}

TEST(GpuPowers, NoGpuTrainsWithLessPowerThanItWaitsWith) {
  const ClusterState cluster = nodes_of(50);
  const GpuPowers powers{cluster,
                         {{.idle = 50, .spin = 100, .busy = 100}},
                         {.node_spread = 0.5, .training_spread = 0.5},
                         RngStreams{1}};
  for (uint32_t n = 0; n < 50; ++n) {
    EXPECT_GE(powers.of({n}, n).busy, powers.of({n}, n).spin);
  }
}

}  // namespace
}  // namespace orrery
