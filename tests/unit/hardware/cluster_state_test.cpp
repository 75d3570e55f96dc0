// Capacity, use and state of every node, and the node sets and totals derived from them.
#include "models/hardware/cluster_state.hpp"

#include <gtest/gtest.h>

#include <bit>

#include "sim/core/check.hpp"
#include "sim/core/rng.hpp"

namespace orrery {
namespace {

NodeSpec box(std::string name, uint32_t leaf) {
  NodeSpec node;
  node.name = std::move(name);
  node.allocatable[Resource::Cpu] = 8'000;
  node.allocatable[Resource::Gpu] = 4 * kMilli;
  node.allocatable[Resource::Pods] = 10;
  node.leaf = leaf;
  return node;
}

// Nodes n0, n1, ... on leaves 0, 1, 2, 0, 1, 2, ...
ClusterState boxes(uint32_t count) {
  ClusterState cluster;
  for (uint32_t i = 0; i < count; ++i) {
    std::string name{"n"};
    cluster.add_node(box(name += std::to_string(i), i % 3));
  }
  cluster.seal();
  return cluster;
}

std::vector<uint32_t> members(const NodeSet& set) {
  std::vector<uint32_t> ids;
  set.for_each([&](NodeId n) { ids.push_back(n.index); });
  return ids;
}

std::vector<uint32_t> members(std::span<const NodeId> nodes) {
  std::vector<uint32_t> ids;
  for (const NodeId n : nodes) ids.push_back(n.index);
  return ids;
}

ClusterState::Request gpus(int64_t count) {
  ClusterState::Request request;
  request.resources[Resource::Gpu] = count * kMilli;
  request.resources[Resource::Pods] = 1;
  return request;
}

SelectorTerm hostname(SelectorOperator op, std::vector<std::string> values) {
  return {{{std::string{kHostnameLabel}, op, std::move(values)}}};
}

using Ids = std::vector<uint32_t>;

TEST(ClusterState, LeavesHoldTheirNodesInWhateverOrderTheseWereAdded) {
  const ClusterState cluster = boxes(7);
  ASSERT_EQ(cluster.leaves(), 3u);
  EXPECT_EQ(members(cluster.in_leaf(0)), (Ids{0, 3, 6}));
  EXPECT_EQ(members(cluster.in_leaf(1)), (Ids{1, 4}));
  EXPECT_EQ(members(cluster.in_leaf(2)), (Ids{2, 5}));
}

TEST(ClusterState, ALeafOfItsOwnForEveryNodeCostsLittleMemory) {
  constexpr uint32_t kNodes = 100'000;
  ClusterState cluster;
  for (uint32_t i = 0; i < kNodes; ++i) cluster.add_node(box("n", i));
  cluster.seal();
  EXPECT_LT(cluster.memory_bytes() / kNodes, 400u);
  EXPECT_EQ(members(cluster.in_leaf(kNodes - 1)), (Ids{kNodes - 1}));
}

TEST(ClusterState, SetsByIdleGpusFollowWhatIsTaken) {
  ClusterState cluster = boxes(2);
  cluster.take({0}, gpus(3), {.gpus = 0b0111, .milli_per_gpu = 1000});
  EXPECT_EQ(members(cluster.with_idle_gpus(1)), (Ids{0, 1}));
  EXPECT_EQ(members(cluster.with_idle_gpus(2)), (Ids{1}));
  EXPECT_EQ(members(cluster.fully_idle()), (Ids{1}));
  cluster.give_back({0}, gpus(3), {.gpus = 0b0111, .milli_per_gpu = 1000});
  EXPECT_EQ(members(cluster.with_idle_gpus(4)), (Ids{0, 1}));
  EXPECT_EQ(members(cluster.fully_idle()), (Ids{0, 1}));
}

TEST(ClusterState, TotalsLeaveOutNodesThatAreDownAndTakeThemBackAsTheyAre) {
  ClusterState cluster = boxes(2);
  cluster.take({0}, gpus(1), {.gpus = 1, .milli_per_gpu = 1000});
  cluster.set_up({0}, false);
  cluster.set_up({0}, false);  // a repeated call changes nothing
  EXPECT_EQ(cluster.gpus_up(), 4);
  EXPECT_EQ(cluster.free_on_up_nodes()[Resource::Gpu], 4 * kMilli);
  cluster.give_back({0}, gpus(1), {.gpus = 1, .milli_per_gpu = 1000});  // while the node is down
  EXPECT_EQ(cluster.free_on_up_nodes()[Resource::Gpu], 4 * kMilli);
  cluster.set_up({0}, true);
  EXPECT_EQ(cluster.free_on_up_nodes()[Resource::Gpu], 8 * kMilli);
  EXPECT_EQ(cluster.gpu_milli_allocated(), 0);
}

TEST(ClusterState, HostnamesAreLabelsLikeOthers) {
  const ClusterState cluster = boxes(4);
  using Op = SelectorOperator;
  EXPECT_EQ(members(cluster.matching(hostname(Op::In, {"n2", "n0", "x"}))), (Ids{0, 2}));
  EXPECT_EQ(members(cluster.matching(hostname(Op::NotIn, {"n2"}))), (Ids{0, 1, 3}));
  EXPECT_EQ(members(cluster.matching(hostname(Op::Exists, {}))), (Ids{0, 1, 2, 3}));
  EXPECT_EQ(members(cluster.matching(hostname(Op::DoesNotExist, {}))), Ids{});
}

TEST(ClusterState, TheChangeLogForgetsAndSaysSo) {
  ClusterState cluster = boxes(3);
  const uint64_t before = cluster.version();
  cluster.set_cordoned({2}, true);
  ASSERT_TRUE(cluster.log_covers(before));
  ASSERT_EQ(cluster.touched_since(before).size(), 1u);
  EXPECT_EQ(cluster.touched_since(before)[0], NodeId{2});
  for (int i = 0; i < 100'000; ++i) cluster.set_cordoned({1}, i % 2 == 0);
  EXPECT_FALSE(cluster.log_covers(before));
  EXPECT_EQ(cluster.version(), before + 100'001);
  EXPECT_TRUE(cluster.touched_since(cluster.version()).empty());
}

TEST(ClusterState, AGpuTakenOutIsNeitherFreeNorIdleNorUp) {
  ClusterState cluster = boxes(2);
  cluster.take({0}, gpus(1), {.gpus = 0b0001, .milli_per_gpu = 1000});
  const uint64_t before = cluster.version();
  cluster.set_gpu_out({0}, 2, true);
  EXPECT_EQ(cluster.allocatable({0}, Resource::Gpu), 3 * kMilli);
  EXPECT_EQ(cluster.free({0}, Resource::Gpu), 2 * kMilli);
  EXPECT_EQ(cluster.gpus({0}), 4U) << "devices keep their numbers";
  EXPECT_EQ(cluster.gpus_out({0}), 0b0100);
  EXPECT_EQ(cluster.idle_gpus({0}), 0b1010);
  EXPECT_EQ(cluster.gpu_left_milli({0}, 2), 0);
  EXPECT_EQ(members(cluster.with_idle_gpus(2)), (Ids{0, 1}));
  EXPECT_EQ(members(cluster.with_idle_gpus(3)), (Ids{1}));
  EXPECT_EQ(cluster.free_on_up_nodes()[Resource::Gpu], 6 * kMilli);
  EXPECT_EQ(cluster.gpus_up(), 7);
  EXPECT_EQ(cluster.gpus_total(), 8);
  EXPECT_EQ(cluster.gpu_milli_allocated(), kMilli);
  ASSERT_EQ(cluster.touched_since(before).size(), 1U);
  cluster.set_up({0}, false);
  EXPECT_EQ(cluster.gpus_up(), 4);
  cluster.set_gpu_out({0}, 2, false);
  EXPECT_EQ(cluster.gpus_up(), 4) << "it is put back while the node is down";
  cluster.set_up({0}, true);
  EXPECT_EQ(cluster.gpus_up(), 8);
  EXPECT_EQ(cluster.free_on_up_nodes()[Resource::Gpu], 7 * kMilli);
  EXPECT_EQ(cluster.idle_gpus({0}), 0b1110);
}

TEST(ClusterState, OnlyAnIdleGpuIsTakenOutAndOnlyOutsideOfWhatIfs) {
  ClusterState cluster = boxes(1);
  cluster.take({0}, gpus(1), {.gpus = 0b0001, .milli_per_gpu = 1000});
  EXPECT_THROW(cluster.set_gpu_out({0}, 0, true), CheckFailed) << "it has an owner";
  EXPECT_THROW(cluster.set_gpu_out({0}, 1, false), CheckFailed) << "it is there";
  EXPECT_THROW(cluster.set_gpu_out({0}, 4, true), CheckFailed) << "there is no such GPU";
  cluster.set_gpu_out({0}, 1, true);
  EXPECT_THROW(cluster.set_gpu_out({0}, 1, true), CheckFailed) << "it is out";
  cluster.hypothesise(true);
  EXPECT_THROW(cluster.set_gpu_out({0}, 2, true), CheckFailed);
  cluster.hypothesise(false);
}

// After any change of pods, GPUs and node states, the sums and sets equal those computed node by
// node. A what-if is a take() followed by give_back(); it leaves everything as before.
TEST(ClusterState, SumsAndSetsFollowGpusThatComeAndGo) {
  Rng rng{11};
  ClusterState cluster = boxes(5);
  std::vector<GpuMask> held(5);
  for (int step = 0; step < 20'000; ++step) {
    const NodeId node{static_cast<uint32_t>(rng.below(5))};
    const auto gpu = static_cast<uint32_t>(rng.below(4));
    const auto bit = static_cast<GpuMask>(1U << gpu);
    GpuMask& mine = held[node.index];
    if (rng.below(8) == 0) cluster.set_up(node, !cluster.up().contains(node));
    if (rng.below(3) == 0 && (mine & bit) == 0) {
      cluster.set_gpu_out(node, gpu, (cluster.gpus_out(node) & bit) == 0);
    } else if ((cluster.gpus_out(node) & bit) == 0) {
      const bool is_held = (mine & bit) != 0;
      const DeviceGrant grant{.gpus = bit, .milli_per_gpu = 1000};
      is_held ? cluster.give_back(node, gpus(1), grant) : cluster.take(node, gpus(1), grant);
      if (!is_held && rng.below(2) == 0) {  // a what-if
        cluster.give_back(node, gpus(1), grant);
      } else {
        mine = static_cast<GpuMask>(mine ^ bit);
      }
    }
    int64_t up = 0, free = 0;
    for (uint32_t n = 0; n < 5; ++n) {
      const auto has = static_cast<GpuMask>(0b1111 & ~cluster.gpus_out({n}));
      const auto idle = static_cast<uint32_t>(std::popcount(static_cast<GpuMask>(has & ~held[n])));
      ASSERT_EQ(cluster.idle_gpus({n}), has & ~held[n]);
      ASSERT_EQ(cluster.free({n}, Resource::Gpu), idle * kMilli);
      ASSERT_EQ(cluster.gpu_left_milli_max({n}), idle > 0 ? kMilli : 0);
      for (uint32_t k = 0; k <= 4; ++k) {
        ASSERT_EQ(cluster.with_idle_gpus(k).contains({n}), idle >= k);
      }
      if (!cluster.up().contains({n})) continue;
      up += std::popcount(has);
      free += idle * kMilli;
    }
    ASSERT_EQ(cluster.gpus_up(), up);
    ASSERT_EQ(cluster.free_on_up_nodes()[Resource::Gpu], free);
  }
}

}  // namespace
}  // namespace orrery
