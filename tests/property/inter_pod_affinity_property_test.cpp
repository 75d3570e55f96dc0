// InterPodAffinity against a search through all pods, on random clusters with changing pods.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sim/core/rng.hpp"
#include "tests/support/fake_handle.hpp"
#include "tests/support/sanitized.hpp"

namespace orrery {
namespace {

class World {
 public:
  explicit World(uint64_t seed) : rng_{seed} {
    const uint64_t nodes = 1 + rng_.below(12), leaves = 1 + rng_.below(4);
    for (uint64_t n = 0; n < nodes; ++n) {
      handle_.add_node({}, static_cast<uint32_t>(n < leaves ? n : rng_.below(leaves)));
    }
    handle_.state.seal();
    policy_ = make_policy(handle_, "InterPodAffinity");
    for (uint64_t i = 0; i < 2 + rng_.below(6); ++i) specs_.push_back(random_spec());
  }

  void step() {
    if (!placed_.empty() && rng_.chance(0.4)) return take_away();
    // The policy sees a spec for the first time when the first pod of this spec is scheduled. It
    // must then also count the pods that were placed earlier.
    const PodView pod = handle_.add_pod(specs_[rng_.below(specs_.size())]);
    const std::vector<NodeId> expected = allowed(pod);
    EXPECT_EQ(found(pod), expected);
    if (expected.empty()) return;
    const NodeId node = expected[rng_.below(expected.size())];
    handle_.place(pod, node);
    placed_.push_back({pod, node});
  }

 private:
  struct Placed {
    PodView pod;
    NodeId node;
  };

  std::vector<NodeLabel> random_labels(uint64_t least) {
    std::vector<NodeLabel> labels;
    for (const char* const key : {"app", "tier"}) {
      const bool is_last = *key == 't';
      if (rng_.chance(0.6) || (is_last && labels.size() < least)) {
        labels.push_back({key, std::string(1, static_cast<char>('a' + rng_.below(3)))});
      }
    }
    return labels;
  }
  std::vector<PodAffinityTerm> random_terms() {
    std::vector<PodAffinityTerm> terms;
    while (rng_.chance(0.35)) {
      const bool is_leaf = rng_.chance(0.5);
      terms.push_back({is_leaf ? PodTopology::Leaf : PodTopology::Hostname, random_labels(1)});
    }
    return terms;
  }
  PodSpec random_spec() {
    PodSpec spec;
    spec.labels = random_labels(0);
    spec.affinity = random_terms();
    spec.anti_affinity = random_terms();
    return spec;
  }

  void take_away() {
    const size_t i = rng_.below(placed_.size());
    handle_.leave(placed_[i].pod);
    placed_.erase(placed_.begin() + static_cast<std::ptrdiff_t>(i));
  }

  std::vector<NodeId> found(const PodView& pod) {
    const Cycle cycle = handle_.cycle(pod);
    NodeSet nodes = handle_.state.up();
    std::vector<NodeId> list;
    Candidates candidates{nodes};
    if (as<PreFilter>(policy_).pre_filter(cycle, nodes).code != Code::Skip) {
      as<Filter>(policy_).filter(cycle, candidates);
    }
    candidates.nodes().for_each([&](NodeId n) { list.push_back(n); });
    return list;
  }

  static bool selects(const PodAffinityTerm& term, const PodSpec& spec) {
    for (const NodeLabel& wanted : term.match_labels) {
      bool has = false;
      for (const NodeLabel& label : spec.labels) has = has || label == wanted;
      if (!has) return false;
    }
    return true;
  }
  bool are_together(const PodAffinityTerm& term, NodeId a, NodeId b) const {
    return term.topology_key == PodTopology::Hostname
               ? a == b
               : handle_.state.leaf(a) == handle_.state.leaf(b);
  }
  // Evaluates the rules of Kubernetes one after another.
  bool is_allowed(const PodView& pod, NodeId node) const {
    const PodSpec& spec = *pod.spec;
    const auto is_meant = [&](const PodSpec& other) {
      return std::ranges::all_of(spec.affinity,
                                 [&](const PodAffinityTerm& t) { return selects(t, other); });
    };
    const bool is_any_there = std::ranges::any_of(
        placed_, [&](const Placed& other) { return is_meant(*other.pod.spec); });
    for (const PodAffinityTerm& term : spec.affinity) {
      const bool is_near = std::ranges::any_of(placed_, [&](const Placed& other) {
        return is_meant(*other.pod.spec) && are_together(term, other.node, node);
      });
      if (!is_near && (is_any_there || !is_meant(spec))) return false;
    }
    for (const Placed& other : placed_) {
      for (const PodAffinityTerm& term : spec.anti_affinity) {
        if (selects(term, *other.pod.spec) && are_together(term, other.node, node)) return false;
      }
      for (const PodAffinityTerm& term : other.pod.spec->anti_affinity) {
        if (selects(term, spec) && are_together(term, other.node, node)) return false;
      }
    }
    return true;
  }
  std::vector<NodeId> allowed(const PodView& pod) const {
    std::vector<NodeId> nodes;
    for (uint32_t n = 0; n < handle_.state.nodes(); ++n) {
      if (is_allowed(pod, {n})) nodes.push_back({n});
    }
    return nodes;
  }

  Rng rng_;
  FakeHandle handle_;
  std::unique_ptr<Policy> policy_;
  std::vector<PodSpec> specs_;
  std::vector<Placed> placed_;
};

TEST(InterPodAffinity, LeavesTheNodesThatASearchThroughAllPodsLeaves) {
  for (uint64_t seed = 0; seed < (test::kIsSanitized ? 100 : 2'000); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    World world{seed};
    for (int i = 0; i < 40; ++i) world.step();
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace orrery
