// Image pulls must end at the same times with PullBandwidth as in a FlowNetwork, which has a link
// for each node and a link for the registry.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "models/control_plane/kubelet/pull_bandwidth.hpp"
#include "models/network/sharing/flow_network.hpp"
#include "sim/core/rng.hpp"
#include "tests/support/sanitized.hpp"

namespace orrery {
namespace {

struct PlannedPull {
  Time at;
  NodeId node;
  Bytes size;
};

std::vector<PlannedPull> random_pulls(Rng& rng, uint32_t nodes) {
  std::vector<PlannedPull> pulls;
  for (uint64_t i = 1 + rng.below(120); i > 0; --i) {
    pulls.push_back({Time{} + nearest_ns(rng.uniform() * 20),
                     {static_cast<uint32_t>(rng.below(nodes))},
                     {static_cast<int64_t>(1'000'000 + rng.below(1'000'000'000))}});
  }
  return pulls;
}

std::vector<Time> by_flows(const std::vector<PlannedPull>& pulls, const ImagePullParams& params,
                           uint32_t nodes) {
  Engine engine;
  FlowNetwork flows{engine};
  const LinkId registry = flows.add_link(params.registry);
  std::vector<LinkId> links;
  for (uint32_t n = 0; n < nodes; ++n) links.push_back(flows.add_link(params.node));
  std::vector<Time> ends(pulls.size());
  const auto start = [&](size_t i) {
    const std::array<LinkUse, 2> uses{LinkUse{registry}, LinkUse{links[pulls[i].node.index]}};
    flows.start({.size = pulls[i].size, .uses = uses}, [&, i] { ends[i] = engine.now(); });
  };
  for (size_t i = 0; i < pulls.size(); ++i) {
    engine.at(pulls[i].at, Label{"test.pull"}, [&start, i] { start(i); });
  }
  engine.run();
  return ends;
}

std::vector<Time> by_numbers(const std::vector<PlannedPull>& pulls, const ImagePullParams& params,
                             uint32_t nodes) {
  Engine engine;
  std::vector<Time> ends(pulls.size());
  PullBandwidth bandwidth{engine, params, nodes,
                          [&](NodeId, ImageId pull) { ends[pull.index] = engine.now(); }};
  for (size_t i = 0; i < pulls.size(); ++i) {
    engine.at(pulls[i].at, Label{"test.pull"}, [&, i] {
      bandwidth.add(pulls[i].node, {static_cast<uint32_t>(i)}, pulls[i].size / params.node);
    });
  }
  engine.run();
  return ends;
}

TEST(ImagePullsProperty, AreAsFastAsMaxMinFairFlowsOverLinksOfNodesAndTheRegistry) {
  for (uint64_t seed = 1; seed <= (test::kIsSanitized ? 30 : 200); ++seed) {
    SCOPED_TRACE(seed);
    Rng rng{seed};
    const auto nodes = static_cast<uint32_t>(1 + rng.below(12));
    const ImagePullParams params{
        .registry = {static_cast<int64_t>(1'000'000'000 + rng.below(10'000'000'000))},
        .node = {static_cast<int64_t>(500'000'000 + rng.below(2'000'000'000))}};
    const std::vector<PlannedPull> pulls = random_pulls(rng, nodes);
    const std::vector<Time> flows = by_flows(pulls, params, nodes);
    const std::vector<Time> numbers = by_numbers(pulls, params, nodes);
    for (size_t i = 0; i < pulls.size(); ++i) {
      ASSERT_LE(std::abs((flows[i] - numbers[i]).ns), 1'000) << "of pull " << i;
    }
  }
}

}  // namespace
}  // namespace orrery
