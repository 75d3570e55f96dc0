// Reasons that keep nodes out of the cluster, and the signals of NodePresence.
#include "models/hardware/node_presence.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/core/check.hpp"

namespace orrery {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr NodeId kNode{1};

struct PresenceWorld {
  explicit PresenceWorld(bool boots, std::vector<NodeId> absent = {})
      : cluster{three_nodes()}, presence{cluster, {.boots = boots, .absent = absent}} {
    presence.node_down.connect([this](NodeId node, NodeReason why) {
      EXPECT_FALSE(cluster.up().contains(node)) << "ClusterState knows";
      say("down", why);
    });
    presence.node_up.connect([this](NodeId node) {
      EXPECT_TRUE(cluster.up().contains(node));
      news.emplace_back("up");
    });
    presence.node_boots.connect([this](NodeId) { news.emplace_back("boots"); });
    presence.boot_broken.connect([this](NodeId, NodeReason why) { say("boot broken", why); });
    presence.node_taken_away.connect([this](NodeId) { news.emplace_back("taken away"); });
  }
  static ClusterState three_nodes() {
    ClusterState cluster;
    for (const char* name : {"a", "b", "c"}) {
      NodeSpec node;
      node.name = name;
      cluster.add_node(node);
    }
    cluster.seal();
    return cluster;
  }
  void say(std::string what, NodeReason why) {
    what += " ";
    news.push_back(what += enum_names(why)[static_cast<size_t>(why)]);
  }
  std::vector<std::string> after(bool adds, NodeReason reason) {
    news.clear();
    adds ? presence.add(kNode, reason) : presence.remove(kNode, reason);
    return news;
  }
  ClusterState cluster;
  NodePresence presence;
  std::vector<std::string> news;
};

TEST(NodePresence, ANodeIsUpWhileItHasNoReasonToBeOut) {
  for (const NodeReason reason :
       {NodeReason::Broken, NodeReason::Absent, NodeReason::Maintenance, NodeReason::Repairing}) {
    PresenceWorld world{false};
    ASSERT_TRUE(world.presence.is_up(kNode));
    world.presence.add(kNode, reason);
    EXPECT_FALSE(world.presence.is_up(kNode));
    EXPECT_TRUE(world.presence.has(kNode, reason));
    EXPECT_EQ(world.presence.nodes_down(), 1U);
    EXPECT_THAT(world.after(false, reason), ElementsAre("up"));
    EXPECT_EQ(world.presence.nodes_down(), 0U);
  }
}

TEST(NodePresence, ReasonsAreASetAndTheLastOneThatGoesBringsTheNodeBack) {
  PresenceWorld world{false};
  EXPECT_THAT(world.after(true, NodeReason::Broken), ElementsAre("down broken"));
  EXPECT_THAT(world.after(true, NodeReason::Broken), IsEmpty()) << "nobody counts";
  EXPECT_THAT(world.after(true, NodeReason::Maintenance), IsEmpty());
  EXPECT_THAT(world.after(false, NodeReason::Broken), IsEmpty());
  EXPECT_THAT(world.after(false, NodeReason::Repairing), IsEmpty()) << "it is not there";
  EXPECT_THAT(world.after(false, NodeReason::Maintenance), ElementsAre("up"));
}

TEST(NodePresence, WithBootsANodeThatWentDownBootsBeforeItIsUp) {
  PresenceWorld world{true};
  EXPECT_THAT(world.after(true, NodeReason::Broken), ElementsAre("down broken"));
  EXPECT_THAT(world.after(false, NodeReason::Broken), ElementsAre("boots"));
  EXPECT_THAT(world.after(true, NodeReason::Broken), ElementsAre("boot broken broken"));
  EXPECT_THAT(world.after(false, NodeReason::Broken), ElementsAre("boots"));
  EXPECT_THAT(world.after(false, NodeReason::Booting), ElementsAre("up"));
}

TEST(NodePresence, ANodeTakenAwayLeavesInWhateverStateItIs) {
  PresenceWorld up{true}, broken{true}, booting{true};
  EXPECT_THAT(up.after(true, NodeReason::Absent), ElementsAre("down absent", "taken away"));
  EXPECT_THAT(up.after(true, NodeReason::Absent), IsEmpty());
  broken.presence.add(kNode, NodeReason::Broken);
  EXPECT_THAT(broken.after(true, NodeReason::Absent), ElementsAre("taken away"));
  EXPECT_THAT(broken.after(false, NodeReason::Absent), IsEmpty()) << "it is broken still";
  booting.presence.add(kNode, NodeReason::Broken);
  booting.presence.remove(kNode, NodeReason::Broken);
  EXPECT_THAT(booting.after(true, NodeReason::Absent),
              ElementsAre("boot broken absent", "taken away"));
}

TEST(NodePresence, NodesThatAreAbsentFromTheStartAreNoNews) {
  PresenceWorld world{true, {kNode}};
  EXPECT_THAT(world.news, IsEmpty());
  EXPECT_FALSE(world.cluster.up().contains(kNode));
  EXPECT_EQ(world.presence.nodes_down(), 1U);
  EXPECT_THAT(world.after(true, NodeReason::Broken), IsEmpty());
  EXPECT_THAT(world.after(false, NodeReason::Absent), IsEmpty());
  EXPECT_THAT(world.after(false, NodeReason::Broken), ElementsAre("boots"));
}

}  // namespace
}  // namespace orrery
