// models/scheduling/framework/spec_cache.hpp -- cached verdicts and scores of nodes for pods of one
// spec.
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
  uint64_t version = UINT64_MAX;  // version of the cluster when `stale` was last updated
  NodeSet stale;                  // nodes without a valid verdict
  NodeSet feasible;               // nodes that are not stale and pass the node-local Filters
  size_t stale_count = 0, feasible_count = 0;
  std::vector<uint8_t> rejected_by;  // by node: the first plugin that rejected it, or kFeasible
  std::array<uint32_t, kPluginBits> rejections{};  // by plugin: number of nodes that it rejected
  // The feasible nodes, grouped by equal scores. Unusable until NodeScores makes this index: see
  // NodeScores::wants_index().
  ScoreIndex alike;
  uint64_t indexed_version = UINT64_MAX;  // version of the cluster when the index was last updated
  uint32_t refreshes = 0;                 // versions counted by NodeScores::count_refresh()
  NodeSet scored;                         // without an index: nodes whose raw scores are valid
  // Raw scores, by scorer, then by node. A scorer that is not node-local has an empty vector.
  std::vector<std::vector<int64_t>> raw;
  // The fields `capacity...` count the pods of the spec that fit on the idle GPUs of feasible
  // nodes: see NodeVerdicts::gpu_capacity().
  uint64_t capacity_version = UINT64_MAX;  // version of the cluster at the last count
  std::vector<uint8_t> capacity_on;        // by node
  std::vector<uint32_t> capacity_in;       // by leaf
  int64_t capacity = 0;                    // over all nodes
};

}  // namespace orrery
