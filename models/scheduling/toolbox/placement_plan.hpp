// models/scheduling/toolbox/placement_plan.hpp -- where the pods of a gang go, by where nodes hang.
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
// How many pods nodes get, each node once at most, in any order; empty: there is no place for all.
using PlacementPlan = std::vector<NodeShare>;

// Slurm's topology/tree: the leaf that fits tightest; if none holds all, the fullest one first and
// then leaves near to it. O(leaves) for each leaf taken, and its nodes.
PlacementPlan plan_slurm_tree(const RoomOn& room, int64_t pods);

// Slurm's topology/block: within the smallest aggregate of 2^k neighbouring leaves that can hold
// the job, `leaf_pods` being what a leaf holds when idle. Levels are the k that are allowed.
// O(leaves), and O(leaves of the aggregate) for each leaf taken, and its nodes.
PlacementPlan plan_slurm_block(const RoomOn& room, int64_t pods, int64_t leaf_pods,
                               std::span<const uint32_t> levels);
// Slurm's measure: aggregates that miss a node, in nodes, and the nodes that are taken.
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
// Kueue's topology-aware scheduling. By blocks or leaves O(blocks + leaves) and the nodes of those
// chosen, a logarithm for each that is taken. By nodes the room must keep its order; O(log nodes)
// for each node taken.
TasPlan plan_kueue(const RoomOn& room, const TasRequest& request);

// Volcano's hard mode: all nodes, with all their room, of the hypernode of the lowest tier that
// holds the job (1: leaves, 2: blocks, 3: the root), and of these of the fullest one. O(leaves) and
// these nodes.
PlacementPlan plan_hypernode(const RoomOn& room, const RoomOn& idle, int64_t pods,
                             int32_t highest_tier);
// Volcano's score of a node for a job that is partly placed: 0..100, the nearer the higher. All
// nodes have the root in common; of a job that is nowhere yet, all are alike: 0.
double hypernode_score(const Topology& topology, uint32_t node, std::optional<uint32_t> placed);

// Helios: the node with the fewest free GPUs that suffices; jobs larger than a node get whole
// nodes, the rest is on the next. Both rooms must keep their order; O(log nodes) for each node
// taken, and O(1) for each node with GPUs enough that lacks something else. `gpus`: free ones, in
// thousandths; `pod_gpus`: what a pod asks for; 0: the fewest pods count in their place.
struct Consolidation {
  const RoomOn& pods;
  const RoomOn& gpus;
  int64_t node_pods = 0;  // on the largest node, when idle
  int64_t pod_gpus = 0;
};
PlacementPlan plan_consolidated(const Consolidation& room, int64_t pods);

}  // namespace orrery
