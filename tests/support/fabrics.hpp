// tests/support/fabrics.hpp -- fat trees for tests.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "models/network/build_fabric.hpp"

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

// All the hosts that a tree of this radix has ports for, one NIC each.
inline Fabric full_tree(int32_t radix, int32_t levels) {
  FabricParams params;
  params.radix = radix;
  params.levels = levels;
  const auto half = static_cast<uint32_t>(radix / 2);
  return SmallFabric{.groups = levels == 2 ? 2 * half : 2 * half * half, .nodes_per_group = half}
      .build(params);
}

}  // namespace orrery::test
