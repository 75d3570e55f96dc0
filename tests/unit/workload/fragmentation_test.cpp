#include "models/scheduling/toolbox/fragmentation.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "sim/core/rng.hpp"

namespace orrery {
namespace {

// The fragmentation of a node by its definition in fragmentation.hpp: a weighted sum over the
// typical pods.
int64_t by_definition(const Fragmentation::Node& node, std::span<const TypicalPod> pods) {
  int64_t sum = 0;
  for (const TypicalPod& pod : pods) {
    int64_t all = 0, too_small = 0;
    int32_t fitting = 0;
    for (uint32_t g = 0; g < node.gpus; ++g) {
      all += node.left[g];
      if (node.left[g] < pod.gpu_milli)
        too_small += node.left[g];
      else
        ++fitting;
    }
    const bool fits = pod.gpus > 0 && fitting >= pod.gpus && node.cpu_left >= pod.cpu_milli;
    sum += pod.weight * (fits ? too_small : all);
  }
  return sum;
}

class FragmentationTest : public testing::Test {
 protected:
  FragmentationTest() {
    NodeSpec spec;
    spec.allocatable[Resource::Cpu] = 96'000;
    spec.allocatable[Resource::Gpu] = 8 * kMilli;
    state_.add_node(spec);
    state_.seal();
    for (int i = 0; i < 20; ++i) {
      TypicalPod pod;
      pod.cpu_milli = static_cast<int64_t>(rng_.below(12)) * 4000;
      pod.gpus = static_cast<int32_t>(rng_.below(4));
      pod.gpu_milli =
          pod.gpus == 0 ? 0 : static_cast<int32_t>(pod.gpus == 1 ? 1 + rng_.below(1000) : 1000);
      pod.weight = 1 + static_cast<int64_t>(rng_.below(50));
      pods_.push_back(pod);
    }
  }
  Fragmentation::Node any_node() {
    Fragmentation::Node node;
    node.cpu_left = static_cast<int64_t>(rng_.below(25)) * 4000;
    node.gpus = 8;
    for (uint32_t g = 0; g < node.gpus; ++g) {
      node.left[g] = static_cast<int16_t>(rng_.chance(0.4) ? 1000 : rng_.below(1000));
    }
    return node;
  }

  Rng rng_{7};
  ClusterState state_;
  std::vector<TypicalPod> pods_;
};

TEST_F(FragmentationTest, TablesGiveWhatTheDefinitionGives) {
  const Fragmentation measure{state_, pods_};
  for (int i = 0; i < 2000; ++i) {
    const Fragmentation::Node node = any_node();
    ASSERT_EQ(measure.of(node), by_definition(node, pods_));
  }
}

TEST_F(FragmentationTest, AShareRelievesByWhatTheMeasureFalls) {
  const Fragmentation measure{state_, pods_};
  for (int i = 0; i < 500; ++i) {
    const Fragmentation::Node node = any_node();
    const auto milli = static_cast<int32_t>(1 + rng_.below(999));
    const int64_t cpu = static_cast<int64_t>(rng_.below(5)) * 2000;
    const auto reliefs = measure.relief_by_share(node, cpu, milli);
    for (uint32_t g = 0; g < node.gpus; ++g) {
      if (node.left[g] < milli || node.cpu_left < cpu) continue;
      Fragmentation::Node after = node;
      after.cpu_left -= cpu;
      after.left[g] = static_cast<int16_t>(after.left[g] - milli);
      ASSERT_EQ(reliefs[g], measure.of(node) - measure.of(after));
    }
  }
}

TEST_F(FragmentationTest, WholeGpusRelieveByWhatTheMeasureFalls) {
  const Fragmentation measure{state_, pods_};
  for (int i = 0; i < 500; ++i) {
    const Fragmentation::Node node = any_node();
    const auto idle = static_cast<uint64_t>(std::ranges::count(node.left, 1000));
    auto missing = static_cast<int32_t>(rng_.below(idle + 1));
    const int32_t gpus = missing;
    const int64_t cpu = static_cast<int64_t>(rng_.below(5)) * 2000;
    if (node.cpu_left < cpu) continue;
    Fragmentation::Node after = node;
    after.cpu_left -= cpu;
    for (int16_t& left : after.left) {
      if (left != 1000 || missing == 0) continue;
      left = 0;
      --missing;
    }
    ASSERT_EQ(measure.relief_by_whole(node, cpu, gpus), measure.of(node) - measure.of(after));
  }
}

}  // namespace
}  // namespace orrery
