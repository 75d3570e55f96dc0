// Policies that cache where pods fit must plan a gang like a policy that sees the cluster for the
// first time.
#include <gtest/gtest.h>

#include "tests/support/disturb.hpp"
#include "tests/support/fake_handle.hpp"
#include "tests/support/scheduler_world.hpp"

namespace orrery::planned_placement_property_test {
namespace {

constexpr uint32_t kNodes = 30;
constexpr GangId kGang{0};

// A random cluster in two pools, and pods of six kinds. Each leaf has four nodes, but the last leaf
// has two.
class Ground {
 public:
  explicit Ground(uint64_t seed) : random_{seed} {
    for (uint32_t n = 0; n < kNodes; ++n) {
      Resources has;
      has[Resource::Cpu] = 64'000;
      has[Resource::Gpu] = kMilli * pick(0, 8);
      has[Resource::Pods] = 12;
      handle.add_node(has, n / 4, {{"pool", n < 16 ? "left" : "right"}});
    }
    handle.state.seal();
    GangView gang{};
    gang.id = kGang;
    handle.add_gang(gang);
    for (int i = 0; i < 6; ++i) {
      PodSpec spec;
      spec.gpus = i == 0 ? 0 : pick(1, 4);
      spec.cpu_milli = 4'000 * pick(0, 3);
      if (i == 1) spec.gpu_milli = 300;
      if (i == 2) spec.required_terms = {{{{"pool", SelectorOperator::In, {"right"}}}}};
      if (i == 3) spec.tolerations.push_back({"busy", {}, {}});
      handle.add_pod(spec, {0}, kGang);
    }
  }
  int pick(int least, int most) {
    return least + static_cast<int>(random_.next() % static_cast<uint64_t>(most - least + 1));
  }
  NodeId some_node() { return {static_cast<uint32_t>(pick(0, kNodes - 1))}; }
  const PodView& some_pod() { return handle.pods[static_cast<size_t>(pick(0, 5))]; }

  void change() {
    const NodeId n = some_node();
    const int which = pick(0, 7);
    if (which < 4) {
      disturb(handle.state, n, which, pick(0, 1) == 1);
    } else if (which == 4) {
      give_back();
    } else {
      take(some_pod(), n);
    }
  }
  void take(const PodView& pod, NodeId n) {
    ClusterState& state = handle.state;
    const PodSpec& spec = *pod.spec;
    if (state.free(n, Resource::Cpu) < spec.cpu_milli || state.free(n, Resource::Pods) < 1) return;
    DeviceGrant grant{0, spec.gpu_milli};
    int32_t missing = spec.gpus;
    for (uint32_t gpu = 0; missing > 0 && gpu < state.gpus(n); ++gpu) {
      if (state.gpu_left_milli(n, gpu) < spec.gpu_milli) continue;
      grant.gpus = static_cast<GpuMask>(grant.gpus | 1u << gpu);
      --missing;
    }
    if (missing > 0) return;
    held_.push_back({n, spec.cluster_request(), grant});
    state.take(n, held_.back().request, grant);
  }

  FakeHandle handle;

 private:
  struct Held {
    NodeId node;
    ClusterState::Request request;
    DeviceGrant grant;
  };
  void give_back() {
    if (held_.empty()) return;
    std::swap(held_[static_cast<size_t>(pick(0, static_cast<int>(held_.size()) - 1))],
              held_.back());
    handle.state.give_back(held_.back().node, held_.back().request, held_.back().grant);
    held_.pop_back();
  }
  Rng random_;
  std::vector<Held> held_;
};

NodeSet planned(Ground& ground, const std::unique_ptr<Policy>& policy, const Cycle& cycle) {
  std::vector<GangDomain> domains;
  as<Domains>(policy).domains(cycle, ground.handle.gang(kGang), domains);
  EXPECT_EQ(domains.size(), 1U);
  return nodes_of(domains.at(0), ground.handle.state);
}

NodeSet allowed(const std::unique_ptr<Policy>& policy, const Cycle& cycle) {
  Candidates nodes{NodeSet::all(kNodes)};
  as<Filter>(policy).filter(cycle, nodes);
  return nodes.nodes();
}

struct Case {
  const char* name;
  const char* args;
};
constexpr Case kCases[] = {
    {"HeliosConsolidate", "{}"},
    {"SlurmTopologyTree", "{leaves_per_block: 3}"},
    {"SlurmTopologyBlock", "{doublings: 2}"},
    {"VolcanoHyperNode", "{leaves_per_block: 2}"},
    {"KueueTopology", "{level: leaf, mode: preferred, leaves_per_block: 2}"},
    {"KueueTopology", "{level: node, mode: unconstrained}"},
    {"KueueTopology", "{level: node, mode: unconstrained, slice: 2}"},
    {"KueueTopology", "{level: node, mode: preferred, order: LeastFreeCapacity}"},
};

TEST(PlannedPlacementProperty, WhatIsRememberedLeadsToThePlanOfAFreshPolicy) {
  for (const Case& tried : kCases) {
    for (uint64_t seed = 1; seed <= 6; ++seed) {
      SCOPED_TRACE(testing::Message() << tried.name << " " << tried.args << " seed " << seed);
      Ground ground{seed};
      const auto remembers = make_policy(ground.handle, tried.name, tried.args);
      size_t plans = 0;
      for (int step = 0; step < 200; ++step) {
        const PodView& pod = ground.some_pod();
        GangView& gang = ground.handle.gangs[kGang];
        gang.pods = 2 * ground.pick(1, 10);
        gang.min_available = ground.pick(0, 3) == 0 ? 2 : gang.pods;
        const auto fresh = make_policy(ground.handle, tried.name, tried.args);
        const Cycle cycle = ground.handle.cycle(pod), anew = ground.handle.cycle(pod);
        const NodeSet nodes = planned(ground, remembers, cycle);
        ASSERT_EQ(nodes, planned(ground, fresh, anew)) << "step " << step;
        plans += nodes.empty() ? 0 : 1;
        for (int i = ground.pick(0, 4); i > 0; --i) {  // places some members of the gang
          if (const NodeId n = nodes.next(ground.some_node()); n.is_valid()) ground.take(pod, n);
          ASSERT_EQ(allowed(remembers, cycle), allowed(fresh, anew)) << "step " << step;
        }
        for (int i = ground.pick(0, 6); i > 0; --i) ground.change();
      }
      EXPECT_GT(plans, 20U) << "it must be tried on gangs that have a place";
      EXPECT_LT(plans, 200U) << "and on some that have none";
    }
  }
}

// Binding times of the jobs, in the order in which the jobs end. Each job has one pod, and the
// nodes differ only in their free GPUs. So HeliosConsolidate and packing by scores choose the same
// node: of the nodes on which the pod fits, the one with the fewest free GPUs.
std::vector<Time> starts_of(const std::string& jobs, const std::string& plugins) {
  ScenarioRun run{
      "cluster: {pools: [{name: n, machine: dgx-a100, count: 5}]}\n"
      "policy: {base: strict_gang, queue: {head_of_line: block}, " +
      plugins + "}\nworkload: {sources: [{kind: jobs, jobs: [" + jobs + "]}]}\n"};
  std::vector<Time> starts;
  for (const JobRow& job : run.jobs()) starts.push_back(job.bound);
  return starts;
}

TEST(PlannedPlacementProperty, LonePodsStartAsWithPackingByGpus) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng random{seed};
    std::string jobs;
    uint64_t at = 0;
    for (int i = 0; i < 120; ++i) {
      at += random.below(60);
      jobs += (i == 0 ? "" : ", ") + ("{kind: pods, submit: " + std::to_string(at)) +
              "s, work: " + std::to_string(60 + random.below(900)) +
              "s, pod: {gpus: " + std::to_string(1 + random.below(8)) + "}}";
    }
    const std::vector<Time> packed =
        starts_of(jobs,
                  "plugins: [{name: NodeResourcesFit, weight: 100, args: {scoringStrategy: {type: "
                  "MostAllocated, resources: [{name: nvidia.com/gpu, weight: 1}]}}}], "
                  "disable: [NodeResourcesBalancedAllocation]");
    ASSERT_EQ(packed.size(), 120U);
    EXPECT_EQ(starts_of(jobs, "plugins: [{name: HeliosConsolidate}]"), packed);
  }
}

}  // namespace
}  // namespace orrery::planned_placement_property_test
