// tests/support/fabrics.hpp -- fat trees for tests.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "models/network/fabric/build_fabric.hpp"

namespace orrery::test {

struct SmallFabric {
  uint32_t groups = 1;
  uint32_t nodes_per_group = 1;
  uint32_t nics = 1;
  Bandwidth nic_rate = 400_Gbps;

  std::vector<FabricNode> nodes() const {
    std::vector<FabricNode> all;
    for (uint32_t n = 0; n < groups * nodes_per_group; ++n) {
      all.push_back({.group = n / nodes_per_group, .nics = nics, .nic_rate = nic_rate});
    }
    return all;
  }
  Fabric build(const FabricParams& params) const {
    BuiltFabric built = build_fabric(params, nodes());
    for (const FabricMistake& mistake : built.mistakes) {
      ADD_FAILURE() << mistake.field << ": " << mistake.message;
    }
    return std::move(built.fabric);
  }
};

// A full tree of this radix, one NIC for each host.
inline Fabric full_tree(int32_t radix, int32_t levels) {
  FabricParams params;
  params.radix = radix;
  params.levels = levels;
  const auto half = static_cast<uint32_t>(radix / 2);
  return SmallFabric{.groups = levels == 2 ? 2 * half : 2 * half * half, .nodes_per_group = half}
      .build(params);
}

// Full and uneven trees, of one to three levels.
inline std::vector<Fabric> trees() {
  FabricParams odd;  // its trees are not full; with 17 groups the last block is smaller
  odd.radix = 12;
  odd.rails = 2;
  FabricParams thin = odd;
  thin.radix = 20;
  thin.oversubscription = 1.7;
  thin.spine_oversubscription = 3;
  std::vector<Fabric> all;
  all.push_back(full_tree(8, 2));
  all.push_back(full_tree(8, 3));
  all.push_back(SmallFabric{.groups = 5, .nodes_per_group = 5, .nics = 2}.build(odd));
  all.push_back(SmallFabric{.groups = 17, .nodes_per_group = 6, .nics = 2}.build(odd));
  all.push_back(SmallFabric{.groups = 23, .nodes_per_group = 9, .nics = 2}.build(thin));
  all.push_back(SmallFabric{.groups = 1, .nodes_per_group = 7}.build({}));
  return all;
}

}  // namespace orrery::test
