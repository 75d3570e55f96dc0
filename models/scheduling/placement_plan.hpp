// models/scheduling/placement_plan.hpp -- where the pods of a gang go, by where nodes hang.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace orrery {

// Nodes hang on leaves, leaves on blocks, and all blocks on one root.
struct Topology {
  std::vector<uint32_t> leaf_of;   // by node
  std::vector<uint32_t> block_of;  // by leaf
  uint32_t blocks = 0;
};

enum class TopologyLevel : uint8_t { Block, Leaf, Node };
constexpr std::array<std::string_view, 3> enum_names(TopologyLevel) {
  return {"block", "leaf", "node"};
}

// How many pods each node gets; empty: there is no place for all. `room` says how many of these
// pods each node could take now.
using PlacementPlan = std::vector<int64_t>;
using Room = std::span<const int64_t>;

// Slurm's topology/tree: the leaf that fits tightest; if none holds all, the fullest one first and
// then leaves near to it.
PlacementPlan plan_slurm_tree(const Topology& topology, Room room, int64_t pods);

// Slurm's topology/block: within the smallest aggregate of 2^k neighbouring leaves that can hold
// the job, `leaf_pods` being what a leaf holds when idle. Levels are the k that are allowed.
PlacementPlan plan_slurm_block(const Topology& topology, Room room, int64_t pods, int64_t leaf_pods,
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
  int64_t pods = 0;
  int64_t slice = 1;  // so many pods share a node
  TopologyLevel level = TopologyLevel::Leaf;
  TasMode mode = TasMode::Required;
  TasOrder order = TasOrder::BestFit;
};
struct TasPlan {
  PlacementPlan plan;
  int64_t fits = 0;  // how many pods would fit, if not all do
};
// Kueue's topology-aware scheduling.
TasPlan plan_kueue(const Topology& topology, Room room, const TasRequest& request);

// Volcano's hard mode: all nodes, with all their room, of the hypernode of the lowest tier that
// holds the job (1: leaves, 2: blocks, 3: the root), and of these of the fullest one.
PlacementPlan plan_hypernode(const Topology& topology, Room room, Room idle_room, int64_t pods,
                             int32_t highest_tier);
// Volcano's score of a node for a job that is partly placed: 0..100, the nearer the higher. All
// nodes have the root in common; of a job that is nowhere yet, all are alike: 0.
double hypernode_score(const Topology& topology, uint32_t node, std::optional<uint32_t> placed);

// Helios: the node with the fewest free that suffices; jobs larger than a node get whole nodes, the
// rest is on the next.
PlacementPlan plan_consolidated(Room room, int64_t node_pods, int64_t pods);

}  // namespace orrery
