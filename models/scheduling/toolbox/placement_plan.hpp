// models/scheduling/toolbox/placement_plan.hpp -- chooses nodes for the pods of a gang, by
// topology.
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
// How many pods each node gets. A node appears at most once. The order does not matter. Empty: the
// gang does not fit.
using PlacementPlan = std::vector<NodeShare>;

// Slurm's topology/tree: takes the leaf that fits the pods most tightly. If no leaf has room for
// all pods, takes the leaf with most room in the block that fits the pods most tightly. If no block
// has room for all pods either, takes the leaf with most room in the cluster. Takes more leaves for
// the remaining pods by the same rules, but prefers a leaf nearer to the leaves already taken if it
// has room for all remaining pods. Example: three leaves of one block have room for 4, 6 and 8
// pods. 5 pods go to the leaf with room for 6. Of 10 pods, 8 go to the leaf with room for 8, and 2
// to the leaf with room for 4, because it fits them most tightly. Costs O(leaves) for each leaf
// taken, and O(1) for each of its nodes.
PlacementPlan plan_slurm_tree(const RoomOn& room, int64_t pods);

// Slurm's topology/block: the job gets nodes of one aggregate of 2^k neighbouring leaves. k is the
// smallest of `levels` for which an idle aggregate could hold the job. Of the aggregates with
// enough room, the one with least room is used. `leaf_pods` is the capacity of an idle leaf. Costs
// O(leaves), plus O(leaves of the aggregate) for each leaf taken, plus O(1) for each node taken.
PlacementPlan plan_slurm_block(const RoomOn& room, int64_t pods, int64_t leaf_pods,
                               std::span<const uint32_t> levels);
// Slurm's measure of fragmentation. Counts the nodes in use and, for each level k, all nodes of
// those complete aggregates of 2^k leaves that have a node in use. Example: 8 leaves of 4 nodes,
// levels 0 to 3 and one node in use give 1 + 4 + 8 + 16 + 32 = 61.
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
  int64_t pods = 0;  // a multiple of RoomOn::slice()
  TopologyLevel level = TopologyLevel::Leaf;
  TasMode mode = TasMode::Required;
  TasOrder order = TasOrder::BestFit;
};
struct TasPlan {
  PlacementPlan plan;
  int64_t fits = 0;  // if not all pods fit: how many would fit
};
// Kueue's topology-aware scheduling. Level Node needs a `room` with the option keeps_order, and
// costs O(log nodes) for each node taken. With other levels, or if mode Preferred falls back to
// other levels, the cost is O(blocks + leaves + nodes below the leaves chosen), plus O(log nodes)
// for each domain taken.
TasPlan plan_kueue(const RoomOn& room, const TasRequest& request);

// Volcano's hard mode: uses the lowest tier on which a hypernode has room for the job. Tier 1 are
// leaves, tier 2 are blocks, and tier 3 is the root. If several hypernodes of this tier have room,
// the fullest one is used: the one with the least ratio of `room` to `idle`. `idle` is the room
// that the hypernode would have if all its nodes were idle. The plan has all nodes of this
// hypernode that have room. Tiers above `highest_tier` are not used. Costs O(leaves + nodes of the
// plan).
PlacementPlan plan_hypernode(const RoomOn& room, const RoomOn& idle, int64_t pods,
                             int32_t highest_tier);
// Volcano's score of `node`, from 0 to 100, for a job with a pod on node `placed`. Nodes nearer to
// `placed` score higher. If `placed` is nullopt, the score is 0.
double hypernode_score(const Topology& topology, uint32_t node, std::optional<uint32_t> placed);

// Placement as in Helios: of the nodes with room for all pods of the job, the one with the fewest
// free GPUs is used. A job that is larger than a node gets whole nodes, and the remaining pods go
// to one more node. Costs O(log nodes) for each node taken, and O(1) for each node that has enough
// GPUs but lacks another resource.
struct Consolidation {
  const RoomOn& pods;     // room in pods; must have keeps_order
  const RoomOn& gpus;     // free GPUs in thousandths; must have keeps_order
  int64_t node_pods = 0;  // pods that fit on the largest idle node
  int64_t pod_gpus = 0;   // GPUs of a pod in thousandths; 0: nodes are compared by room in pods
};
PlacementPlan plan_consolidated(const Consolidation& room, int64_t pods);

}  // namespace orrery
