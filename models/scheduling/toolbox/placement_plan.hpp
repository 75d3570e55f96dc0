// models/scheduling/toolbox/placement_plan.hpp -- plans the nodes of a gang by topology.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "models/scheduling/toolbox/room_on.hpp"

namespace orrery {

enum class TopologyLevel : uint8_t { Block, Leaf, Node };
constexpr std::array<std::string_view, 3> enum_names(TopologyLevel) {
  return {"block", "leaf", "node"};
}

struct NodeShare {
  uint32_t node = 0;
  int64_t pods = 0;  // at least one
  bool operator==(const NodeShare&) const = default;
};
// How many pods each node gets, each node at most once, in any order; empty: the gang does not fit.
using PlacementPlan = std::vector<NodeShare>;

// Slurm's topology/tree: the leaf that fits tightest; if none holds all pods, the fullest one first
// and then leaves near it. Costs O(leaves) for each leaf taken, plus its nodes. Example: leaves
// with room for 4, 6 and 8 pods; 5 pods go to the leaf with 6, 10 pods to the leaf with 8 and 2 of
// another.
PlacementPlan plan_slurm_tree(const RoomOn& room, int64_t pods);

// Slurm's topology/block: within the smallest aggregate of 2^k neighbouring leaves that can hold
// the job. `leaf_pods` is the capacity of an idle leaf; levels are the allowed k. Costs O(leaves),
// and O(leaves of the aggregate) for each leaf taken, plus its nodes.
PlacementPlan plan_slurm_block(const RoomOn& room, int64_t pods, int64_t leaf_pods,
                               std::span<const uint32_t> levels);
// Slurm's measure: for each level, the nodes of aggregates that are not wholly free; plus the nodes
// in use.
int64_t block_fragmentation(std::span<const int64_t> free_by_leaf, int64_t leaf_nodes,
                            std::span<const uint32_t> levels);

enum class TasMode : uint8_t { Required, Preferred, Unconstrained };
constexpr std::array<std::string_view, 3> enum_names(TasMode) {
  return {"required", "preferred", "unconstrained"};
}
enum class TasOrder : uint8_t { BestFit, LeastFreeCapacity };
constexpr std::array<std::string_view, 2> enum_names(TasOrder) {
  return {"BestFit", "LeastFreeCapacity"};
}
struct TasRequest {
  int64_t pods = 0;  // a multiple of the room's slice
  TopologyLevel level = TopologyLevel::Leaf;
  TasMode mode = TasMode::Required;
  TasOrder order = TasOrder::BestFit;
};
struct TasPlan {
  PlacementPlan plan;
  int64_t fits = 0;  // how many pods would fit, if not all do
};
// Kueue's topology-aware scheduling. By blocks or leaves it costs O(blocks + leaves) plus the nodes
// of those chosen, and a logarithm for each one taken. By nodes the room must be sorted; O(log
// nodes) for each node taken.
TasPlan plan_kueue(const RoomOn& room, const TasRequest& request);

// Volcano's hard mode: all nodes with room below the hypernode of the lowest tier that holds the
// job (1: leaves, 2: blocks, 3: the root); of several, the fullest. Costs O(leaves) plus these
// nodes.
PlacementPlan plan_hypernode(const RoomOn& room, const RoomOn& idle, int64_t pods,
                             int32_t highest_tier);
// Volcano's score of a node for a job that is partly placed: 0..100, higher if nearer. All nodes
// share the root; if the job has no pods placed, all scores are 0.
double hypernode_score(const Topology& topology, uint32_t node, std::optional<uint32_t> placed);

// Helios: the node with the fewest free GPUs that suffices. Jobs larger than a node get whole
// nodes, and the rest goes to the next node. Both rooms must be sorted. Costs O(log nodes) for each
// node taken, and O(1) for each node with enough GPUs that lacks another resource. `gpus`: free
// GPUs in thousandths; `pod_gpus`: GPUs of a pod; 0: the fewest pods count instead.
struct Consolidation {
  const RoomOn& pods;
  const RoomOn& gpus;
  int64_t node_pods = 0;  // capacity of the largest idle node
  int64_t pod_gpus = 0;
};
PlacementPlan plan_consolidated(const Consolidation& room, int64_t pods);

}  // namespace orrery
