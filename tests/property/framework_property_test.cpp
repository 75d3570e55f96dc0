// The Framework: its cached results equal fresh ones. Its search for a node, and its message if no
// node is available, are those of kube-scheduler. Also: a transaction that is rolled back leaves no
// trace.
#include <gtest/gtest.h>

#include <bit>
#include <memory>

#include "models/scheduling/cycle/transaction.hpp"
#include "models/scheduling/framework/framework.hpp"
#include "tests/support/disturb.hpp"
#include "tests/support/fake_handle.hpp"
#include "tests/support/fingerprint.hpp"
#include "tests/support/scheduler_world.hpp"

namespace orrery {
namespace {

constexpr uint32_t kNodes = 40, kLeaves = 7;

struct Holding {
  NodeId node;
  ClusterState::Request request;
  DeviceGrant grant;
};

class Playground {
 public:
  explicit Playground(uint64_t seed, uint32_t nodes = kNodes)
      : none{nodes}, nodes_{nodes}, random_{seed} {
    for (uint32_t i = 0; i < nodes_; ++i) {
      Resources has;
      has[Resource::Cpu] = 16'000 * pick(1, 4);
      has[Resource::Memory] = int64_t{1} << 37;
      has[Resource::Gpu] = kMilli * pick(0, 8);
      has[Resource::Pods] = 4;
      handle.add_node(has, i % kLeaves, {{"half", i % 2 == 0 ? "even" : "odd"}});
    }
    handle.state.seal();
    for (int i = 0; i < 12; ++i) {
      PodSpec spec;
      spec.gpus = pick(0, 8);
      spec.cpu_milli = 4'000 * pick(0, 6);
      if (pick(0, 3) == 0) spec.tolerations.push_back({"busy", {}, {}});
      handle.add_pod(spec);
    }
  }
  int pick(int least, int most) {
    return least + static_cast<int>(random_.next() % static_cast<uint64_t>(most - least + 1));
  }
  const PodView& some_pod() { return handle.pods[static_cast<size_t>(pick(0, 11))]; }
  NodeId some_node() { return {static_cast<uint32_t>(pick(0, static_cast<int>(nodes_) - 1))}; }

  void disturb() {
    const NodeId n = some_node();
    const int which = pick(0, 5);
    if (which == 4) give_back();
    if (which < 4) orrery::disturb(handle.state, n, which, pick(0, 1) == 1);
  }
  Holding holding_of(const PodView& pod, NodeId node) const {
    Holding h{node, {}, {}};
    h.request.resources = pod.spec->requests();
    h.request.nonzero_cpu = std::max<int64_t>(h.request.resources[Resource::Cpu], 100);
    h.request.nonzero_memory = h.request.resources[Resource::Memory];
    GpuMask idle = handle.state.idle_gpus(node);
    for (int i = 0; i < pod.spec->gpus; ++i) {
      const auto lowest = static_cast<GpuMask>(idle & -idle);
      h.grant.gpus = static_cast<GpuMask>(h.grant.gpus | lowest);
      idle = static_cast<GpuMask>(idle & ~lowest);
    }
    h.grant.milli_per_gpu = kMilli;
    return h;
  }
  void take(const PodView& pod, NodeId node) {
    held_.push_back(holding_of(pod, node));
    handle.state.take(node, held_.back().request, held_.back().grant);
  }
  void give_back() {
    if (held_.empty()) return;
    std::swap(held_[static_cast<size_t>(pick(0, static_cast<int>(held_.size()) - 1))],
              held_.back());
    handle.state.give_back(held_.back().node, held_.back().request, held_.back().grant);
    held_.pop_back();
  }

  FakeHandle handle;
  const Nominations none;

 private:
  uint32_t nodes_;
  Rng random_;
  std::vector<Holding> held_;
};

Selection find_node(Framework& framework, const FakeHandle& handle, const PodView& pod,
                    const NodeSet* domain = nullptr) {
  CycleState state = framework.new_attempt();
  return framework.find_node(FakeHandle::cycle(handle, pod, state), domain);
}
int64_t gpu_capacity(Framework& framework, const FakeHandle& handle, const PodView& pod,
                     const GangDomain* domain = nullptr) {
  CycleState state = framework.new_attempt();
  return framework.gpu_capacity(FakeHandle::cycle(handle, pod, state), domain);
}

TEST(FrameworkProperty, CachedResultsEqualComputedOnes) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Playground world{seed};
    const ProfileParams profile = profile_of(ProfileBase::Default);
    Framework remembers{world.handle, world.none, profile};
    for (int step = 0; step < 400; ++step) {
      const PodView& pod = world.some_pod();
      Framework anew{world.handle, world.none, profile};
      const Selection known = find_node(remembers, world.handle, pod);
      const Selection fresh = find_node(anew, world.handle, pod);
      ASSERT_EQ(known.node, fresh.node) << "step " << step;
      ASSERT_EQ(known.code, fresh.code);
      ASSERT_EQ(known.plugins, fresh.plugins);
      ASSERT_EQ(known.feasible, fresh.feasible);
      Framework for_capacity{world.handle, world.none, profile};
      ASSERT_EQ(gpu_capacity(remembers, world.handle, pod),
                gpu_capacity(for_capacity, world.handle, pod));
      if (known.node.is_valid()) world.take(pod, known.node);
      for (int i = world.pick(0, 3); i > 0; --i) world.disturb();
    }
  }
}

TEST(FrameworkProperty, CapacitiesOfDomainsAreThoseOfTheirNodes) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Playground world{seed};
    const ProfileParams profile = profile_of(ProfileBase::Default);
    Framework remembers{world.handle, world.none, profile};
    for (int step = 0; step < 200; ++step) {
      const PodView& pod = world.some_pod();
      if (pod.spec->gpus == 0) continue;
      Framework fresh{world.handle, world.none, profile};
      const InLeaf leaf{static_cast<uint32_t>(world.pick(0, kLeaves - 1))};
      NodeSet some{kNodes};
      for (int i = 0; i < 9; ++i) some.insert(world.some_node());
      for (const GangDomain& domain : {GangDomain{leaf}, GangDomain{some}}) {
        int64_t sum = 0;
        nodes_of(domain, world.handle.state).for_each([&](NodeId n) {
          const GangDomain node{n};
          sum += gpu_capacity(fresh, world.handle, pod, &node);
        });
        ASSERT_EQ(gpu_capacity(remembers, world.handle, pod, &domain), sum) << "step " << step;
      }
      const NodeId found = find_node(remembers, world.handle, pod).node;
      if (found.is_valid()) world.take(pod, found);
      for (int i = world.pick(0, 3); i > 0; --i) world.disturb();
    }
  }
}

// `alike` groups equal nodes into classes and evaluates one node of each. `single` evaluates each
// node, because the result of PodTopologySpread for a node depends on other nodes. The pods have no
// spread constraints, so PodTopologySpread rejects no node.
TEST(FrameworkProperty, ClassesOfAlikeNodesChooseAsSingleNodesDo) {
  for (const TieBreak tie_break : {TieBreak::LowestId, TieBreak::Random}) {
    for (uint64_t seed = 1; seed <= 8; ++seed) {
      SCOPED_TRACE(testing::Message() << "seed " << seed);
      Playground world{seed, 300};
      ProfileParams alike = profile_of(ProfileBase::Default, {"BestFit"});
      ProfileParams single = profile_of(ProfileBase::Default, {"BestFit", "PodTopologySpread"});
      alike.tie_break = single.tie_break = tie_break;
      Framework by_class{world.handle, world.none, alike};
      Framework by_node{world.handle, world.none, single};
      NodeSet domain{300};
      for (int step = 0; step < 300; ++step) {
        const PodView& pod = world.some_pod();
        for (int i = 0; i < 5; ++i) domain.insert(world.some_node());
        const NodeSet* const within = world.pick(0, 3) == 0 ? &domain : nullptr;
        const Selection a = find_node(by_class, world.handle, pod, within);
        const Selection b = find_node(by_node, world.handle, pod, within);
        ASSERT_EQ(a.node, b.node) << "step " << step;
        ASSERT_EQ(a.visited, b.visited);
        ASSERT_EQ(a.feasible, b.feasible);
        if (a.node.is_valid()) world.take(pod, a.node);
        for (int i = world.pick(0, 3); i > 0; --i) world.disturb();
      }
    }
  }
}

TEST(TransactionProperty, RollingBackLeavesTheClusterAsItWas) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Playground world{seed};
    Framework framework{world.handle, world.none, profile_of(ProfileBase::Default)};
    Placements placements{world.handle.state, world.handle.table};
    Transaction transaction{world.handle.state, placements, world.handle.table};
    struct Mark {
      std::unique_ptr<Transaction::Savepoint> savepoint;
      std::vector<int64_t> before;
      size_t pods;
    };
    std::vector<Mark> marks;
    std::vector<PodView> placed;
    for (int step = 0; step < 60; ++step) {
      if (step % 6 == 0) {
        marks.push_back({std::make_unique<Transaction::Savepoint>(transaction),
                         fingerprint(world.handle.state), placements.pods()});
      }
      const PodView pod = world.handle.add_pod(*world.some_pod().spec);
      const Selection found = find_node(framework, world.handle, pod);
      if (found.node.is_valid()) {
        transaction.place(pod, found.node, world.holding_of(pod, found.node).grant, {});
        placed.push_back(pod);
      } else if (!placed.empty()) {
        transaction.evict(placed.back());
        placed.pop_back();
      }
    }
    for (; !marks.empty(); marks.pop_back()) {
      marks.back().savepoint->end();
      EXPECT_EQ(fingerprint(world.handle.state), marks.back().before);
      EXPECT_EQ(placements.pods(), marks.back().pods);
    }
  }
}

TEST(Framework, StopsAtTheFeasibleLimitAndGoesOnBehindIt) {
  FakeHandle handle;
  Resources has;
  has[Resource::Cpu] = 16'000;
  has[Resource::Memory] = int64_t{1} << 37;
  has[Resource::Gpu] = 8 * kMilli;
  for (int i = 0; i < 1000; ++i) handle.add_node(has);
  handle.state.seal();
  PodSpec spec;
  spec.gpus = 1;
  const PodView pod = handle.add_pod(spec);
  const Nominations none{handle.state.nodes()};
  Framework framework{handle, none, profile_of(ProfileBase::Default)};
  const Selection first = find_node(framework, handle, pod);
  EXPECT_EQ(first.feasible, 420u);  // case KS-13: 42 % of 1,000 nodes
  EXPECT_EQ(first.visited, 420u);
  EXPECT_EQ(first.node.index, 0u);
  EXPECT_EQ(find_node(framework, handle, pod).node.index, 420u);
  // The third search begins at node 840 and wraps around: it visits 840..999, then 0..259. Of equal
  // nodes the one with the lowest id wins.
  EXPECT_EQ(find_node(framework, handle, pod).node.index, 0u);
  EXPECT_EQ(find_node(framework, handle, pod).node.index, 260u);
}

TEST(Framework, SaysWhyNoNodeIsAvailableAsUpstreamDoes) {
  FakeHandle handle;
  Resources has;
  has[Resource::Gpu] = kMilli;
  for (int i = 0; i < 4; ++i) handle.add_node(has);
  handle.state.seal();
  handle.state.set_cordoned({3}, true);
  PodSpec spec;
  spec.gpus = 2;
  const PodView pod = handle.add_pod(spec);
  const Nominations none{handle.state.nodes()};
  Framework framework{handle, none, profile_of(ProfileBase::Default)};
  const Cycle cycle = handle.cycle(pod);
  EXPECT_FALSE(framework.find_node(cycle, nullptr).node.is_valid());
  const Candidates diagnosis = framework.diagnose(cycle, nullptr, true);
  EXPECT_EQ(framework.message(diagnosis),
            "0/4 nodes are available: 1 node(s) were unschedulable, 3 Insufficient "
            "nvidia.com/gpu.");
  ASSERT_EQ(diagnosis.rejected().size(), 2u);
  EXPECT_TRUE(diagnosis.rejected()[0].contains({3}));
  EXPECT_EQ(diagnosis.rejected()[1].count(), 3u);
  EXPECT_TRUE(framework.diagnose(cycle, nullptr, false).rejected().empty());
}

}  // namespace
}  // namespace orrery
