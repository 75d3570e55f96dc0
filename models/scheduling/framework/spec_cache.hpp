// models/scheduling/framework/spec_cache.hpp -- what is known of the nodes for pods of one spec.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/hardware/node_set.hpp"
#include "models/scheduling/framework/plugin_bits.hpp"
#include "models/scheduling/framework/score_index.hpp"
#include "sim/core/id.hpp"

namespace orrery {

struct SpecCache {
  static constexpr uint8_t kFeasible = UINT8_MAX;

  SpecId spec;
  uint64_t version = UINT64_MAX;  // of the cluster when `stale` was last brought up to date
  NodeSet stale;                  // nodes on which there is no verdict
  NodeSet feasible;               // of the others, by the node-local filters
  size_t stale_count = 0, feasible_count = 0;
  std::vector<uint8_t> rejected_by;                // per node: the first plugin that rejected it
  std::array<uint32_t, kPluginBits> rejections{};  // per plugin: nodes it rejected
  // Scores.
  ScoreIndex alike;                       // of feasible nodes, if all scorers allow it and it pays
  uint64_t indexed_version = UINT64_MAX;  // of the cluster when the index was last looked after
  uint32_t refreshes = 0;                 // without an index
  NodeSet scored;                         // without one: nodes whose raw scores are valid
  std::vector<std::vector<int64_t>> raw;  // per scorer; empty for those that are not node-local
  // How many more pods fit by whole GPUs; see NodeVerdicts::gpu_capacity().
  uint64_t capacity_version = UINT64_MAX;
  std::vector<uint8_t> capacity_on;   // by node
  std::vector<uint32_t> capacity_in;  // by leaf
  int64_t capacity = 0;               // over all nodes
};

}  // namespace orrery
