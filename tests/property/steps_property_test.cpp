// Steps as a rate against steps played one by one: jobs end at the same time.
#include <gtest/gtest.h>

#include <string>

#include "sim/core/rng.hpp"
#include "tests/support/scheduler_world.hpp"

namespace orrery {
namespace {

std::string number(uint64_t n) { return std::to_string(n); }

// One gang on a cluster of its own: steps, exchanges, checkpoints and a failure, all at random.
std::string random_scenario(Rng& rng, const std::string& steps) {
  const uint64_t pods = 2 + rng.below(30);
  const uint64_t compute_ms = 20 + rng.below(500);
  const bool has_store = rng.chance(0.5);
  std::string yaml = "cluster: {pools: [{name: n, machine: " +
                     std::string{rng.chance(0.5) ? "dgx-a100" : "dgx-h100"} +
                     ", count: " + number(pods + 2) +
                     ", nodes_per_leaf: " + number(2 + rng.below(20)) + "}]}\n";
  yaml += "network: {level: " + std::string{rng.chance(0.7) ? "flow" : "alpha_beta"} + "}\n";
  if (has_store) yaml += "storage: {stores: [{name: blob, write: 40GBps, read: 80GBps}]}\n";
  yaml += "workload:\n  steps: " + steps + "\n  training:\n";
  yaml += "    checkpoint_interval: " + number(60 + rng.below(600)) + "s\n";
  if (has_store) {
    yaml += "    checkpoint: {store: blob, bytes: " + number(1 + rng.below(2000)) +
            "GB, mode: " + (rng.chance(0.5) ? "sync" : "async") + "}\n";
  } else {
    yaml += "    checkpoint_write: " + number(rng.below(20)) + "s\n";
  }
  constexpr const char* kCollectives[] = {"all_reduce", "all_gather", "reduce_scatter",
                                          "all_to_all"};
  yaml += "    step:\n      compute: " + number(compute_ms) + "ms\n      exchanges:\n";
  for (uint64_t i = 0; i < 1 + rng.below(3); ++i) {
    yaml += "        - {among: all, bytes: " + number(1 + rng.below(3000)) +
            "MB, collective: " + kCollectives[rng.below(4)] + "}\n";
  }
  yaml += "      overlap: 0." + number(rng.below(10)) + "\n";
  yaml += "      optimizer: " + number(rng.below(30)) + "ms\n";
  yaml += "  sources:\n    - kind: jobs\n      jobs:\n        - {name: a, pods: " + number(pods) +
          ", pod: {gpus: 8}, work: " + number(compute_ms * 5) + "s}\n";
  if (rng.chance(0.5)) {
    yaml +=
        "faults: {list: [{node: '0', at: " + number(100 + rng.below(1000)) + "s, repair: 1min}]}\n";
  }
  return yaml + "policy: {base: strict_gang}\n";
}

TEST(Steps, PlayedOneByOneEndWhenTheirRateSays) {
  for (uint64_t seed = 0; seed < 25; ++seed) {
    SCOPED_TRACE("seed " + number(seed));
    Time ended[2];
    for (const bool is_traced : {false, true}) {
      Rng rng{seed};
      ScenarioRun run{random_scenario(rng, is_traced ? "traced" : "rate"), {}, {}};
      const JobRow row = run.jobs().at(0);
      EXPECT_EQ(row.outcome, JobOutcome::Completed);
      EXPECT_GT(row.gpu_s_exchange, 0);
      ended[is_traced ? 1 : 0] = row.ended;
    }
    EXPECT_NEAR(ended[1].seconds() / ended[0].seconds(), 1, 1e-3);
  }
}

}  // namespace
}  // namespace orrery
