// On random clusters the filter agrees with upstream's rule applied node by node.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/support/fake_handle.hpp"
#include "tests/support/sanitized.hpp"

namespace orrery {
namespace {

using Counts = std::map<std::string, uint32_t>;

struct Expected {
  std::set<uint32_t> kept, unresolvable;
  Counts reasons;
};

bool has_gpus(const ClusterState& cluster, NodeId n, const PodSpec& spec) {
  int32_t usable = 0;
  for (uint32_t gpu = 0; gpu < cluster.gpus(n); ++gpu) {
    usable += cluster.gpu_left_milli(n, gpu) >= spec.gpu_milli ? 1 : 0;
  }
  return usable >= spec.gpus;
}

Expected by_hand(const ClusterState& cluster, const PodSpec& spec) {
  Expected expected;
  for (uint32_t i = 0; i < cluster.nodes(); ++i) {
    const NodeId n{i};
    std::vector<std::string> why;
    bool is_hopeless = false;
    if (cluster.free(n, Resource::Pods) < 1) why.emplace_back("Too many pods");
    const auto compare = [&](Resource r, int64_t want, const char* reason) {
      if (want > 0 && want > cluster.free(n, r)) why.emplace_back(reason);
      if (want > cluster.allocatable(n, r)) is_hopeless = true;
    };
    compare(Resource::Cpu, spec.cpu_milli, "Insufficient cpu");
    compare(Resource::Memory, spec.memory_bytes, "Insufficient memory");
    if (!has_gpus(cluster, n, spec)) why.emplace_back("Insufficient nvidia.com/gpu");
    if (spec.gpus > static_cast<int32_t>(cluster.gpus(n))) is_hopeless = true;
    if (why.empty()) expected.kept.insert(i);
    if (is_hopeless) expected.unresolvable.insert(i);
    for (const std::string& reason : why) ++expected.reasons[reason];
  }
  return expected;
}

PodSpec random_pod(Rng& rng) {
  PodSpec spec;
  spec.cpu_milli = static_cast<int64_t>(rng.below(6)) * kMilli;
  spec.memory_bytes = static_cast<int64_t>(rng.below(6));
  spec.gpus = static_cast<int32_t>(rng.below(5));
  if (spec.gpus == 1 && rng.chance(0.5))
    spec.gpu_milli = 100 + static_cast<int32_t>(rng.below(9)) * 100;
  return spec;
}

TEST(NodeResourcesFitProperty, AgreesWithTheRuleReadNodeByNode) {
  constexpr uint64_t kSeed = 20260101;
  Rng rng{kSeed};
  for (int round = 0; round < (test::kIsSanitized ? 60 : 300); ++round) {
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ", round " + std::to_string(round));
    FakeHandle handle;
    const auto nodes = static_cast<uint32_t>(1 + rng.below(100));
    for (uint32_t i = 0; i < nodes; ++i) {
      Resources has;
      has[Resource::Cpu] = static_cast<int64_t>(rng.below(9)) * kMilli;
      has[Resource::Memory] = static_cast<int64_t>(rng.below(9));
      has[Resource::Gpu] = static_cast<int64_t>(rng.below(5)) * kMilli;
      has[Resource::Pods] = static_cast<int64_t>(1 + rng.below(4));
      handle.add_node(has);
    }
    handle.state.seal();
    const auto policy = make_policy(handle, "NodeResourcesFit");
    for (int i = 0; i < 150; ++i) {
      const PodView pod = handle.add_pod(random_pod(rng));
      const Expected expected = by_hand(handle.state, *pod.spec);
      Candidates candidates{handle.state.up()};
      candidates.keep_unresolvable(true);
      candidates.reset(handle.state.up());
      as<Filter>(policy).filter(handle.cycle(pod), candidates);
      std::set<uint32_t> kept, unresolvable;
      candidates.nodes().for_each([&](NodeId n) { kept.insert(n.index); });
      candidates.unresolvable().for_each([&](NodeId n) { unresolvable.insert(n.index); });
      Counts reasons;
      for (const Rejection& r : candidates.rejections()) {
        reasons[r.reason] += r.nodes;
      }
      ASSERT_EQ(kept, expected.kept);
      ASSERT_EQ(unresolvable, expected.unresolvable);
      ASSERT_EQ(reasons, expected.reasons);
      if (!kept.empty()) handle.occupy({*kept.begin()}, *pod.spec);
    }
  }
}

}  // namespace
}  // namespace orrery
