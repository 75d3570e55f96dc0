// tests/support/fingerprint.hpp -- the requested and free resources of a cluster and of its nodes,
// as numbers. Tests compare them to see whether a cluster is back in an earlier state.
#pragma once

#include <cstdint>
#include <vector>

#include "models/hardware/cluster_state.hpp"

namespace orrery {

inline std::vector<int64_t> fingerprint(const ClusterState& state) {
  std::vector<int64_t> all{state.gpu_milli_allocated()};
  for (uint32_t i = 0; i < state.nodes(); ++i) {
    for (size_t r = 0; r < kResources; ++r) {
      all.push_back(state.requested({i}, static_cast<Resource>(r)));
      all.push_back(state.nonzero_requested({i}, static_cast<Resource>(r)));
    }
    all.push_back(state.idle_gpus({i}));
    all.push_back(state.fully_idle().contains({i}) ? 1 : 0);
    for (uint32_t k = 0; k <= 8; ++k) all.push_back(state.with_idle_gpus(k).contains({i}) ? 1 : 0);
    for (uint32_t g = 0; g < state.gpus({i}); ++g) all.push_back(state.gpu_left_milli({i}, g));
  }
  for (size_t r = 0; r < kResources; ++r) {
    all.push_back(state.free_on_up_nodes()[static_cast<Resource>(r)]);
  }
  return all;
}

}  // namespace orrery
