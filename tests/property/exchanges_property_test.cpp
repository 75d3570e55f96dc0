// An exchange alone on the fabric takes equally long with the levels `flow` and `alpha_beta`.
// `flow` simulates the load on each link; `alpha_beta` calculates the time by a formula.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>

#include "models/network/collectives/collectives.hpp"
#include "sim/core/enum_names.hpp"
#include "sim/core/rng.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/scheduler_world.hpp"

namespace orrery::exchanges_property_test {
namespace {

using test::kIsSanitized;

std::string number(uint64_t n) { return std::to_string(n); }

// An exchange by NVLS in a network with SHARP. `count: 1` is the default. It only distinguishes
// this choice from NVLS without SHARP.
constexpr const char* kSharp = ", algorithm: nvls, count: 1";
struct Choice {
  Collective collective;
  const char* rest;
};
constexpr std::array kChoices{
    Choice{Collective::AllReduce, ""},
    Choice{Collective::AllReduce, ", algorithm: ring"},
    Choice{Collective::AllReduce, ", algorithm: tree"},
    Choice{Collective::AllReduce, ", algorithm: nvls"},
    Choice{Collective::AllReduce, kSharp},
    Choice{Collective::AllReduce, ", algorithm: hierarchical"},
    Choice{Collective::AllReduce, ", algorithm: hierarchical, stages: pipelined"},
    Choice{Collective::AllGather, ""},
    Choice{Collective::AllGather, ", algorithm: hierarchical, stages: pipelined"},
    Choice{Collective::ReduceScatter, ""},
    Choice{Collective::ReduceScatter, ", algorithm: hierarchical"},
    Choice{Collective::Broadcast, ""},
    Choice{Collective::Broadcast, ", algorithm: hierarchical, stages: pipelined"},
    Choice{Collective::AllToAll, ""},
    Choice{Collective::AllToAll, ", algorithm: hierarchical"},
    Choice{Collective::PushPull, ", servers: {count: 2}"},
    Choice{Collective::PushPull, ", servers: {count: 2, overlap: true}"},
    Choice{Collective::PushPull, ", servers: {count: 1, placement: dedicated, overlap: true}"},
};

// A gang on 2, 4, 8 or 16 nodes, with 1, 4 or 8 GPUs on each. A leaf has four nodes.
std::string scenario(const Choice& choice, uint64_t seed, const std::string& level) {
  Rng rng{seed};
  const uint64_t nodes = uint64_t{2} << rng.below(4);
  const std::string rest = choice.rest;
  const bool has_nvls = rest.find("nvls") != std::string::npos;
  constexpr std::array<const char*, 3> kMachines{"hgx-h100", "dgx-b200", "dgx-a100"};
  constexpr std::array<uint64_t, 3> kGpus{1, 4, 8};
  // 1 KiB to 8 GiB: small buffers are bound by latency, large ones by bandwidth.
  const uint64_t bytes = (uint64_t{1} << (10 + rng.below(24))) + rng.below(1000);
  std::string yaml = "cluster: {pools: [{name: n, machine: ";
  yaml += kMachines[rng.below(has_nvls ? 2 : 3)];
  yaml += ", count: " + number(nodes) + ", nodes_per_leaf: 4}]}\nnetwork: {level: " + level;
  if (rest == kSharp) yaml += ", sharp: true";
  yaml += "}\nworkload:\n  training:\n    step: {compute: 1ms, exchanges: [{among: all, bytes: ";
  yaml += number(bytes) + "B, collective: " + std::string{name_of(choice.collective)};
  yaml += rest;
  yaml += "}]}\n  sources: [{kind: jobs, jobs: [{name: a, work: 1000s, pods: " + number(nodes);
  yaml += ", pod: {gpus: " + number(kGpus[rng.below(3)]) + ", cpus: 130}}]}]\n";
  return yaml + "policy: {base: strict_gang}\n";
}

double exchange_of(const std::string& yaml) {
  ScenarioRun run{yaml, {}, {}};
  return run.jobs().at(0).run.seconds() - 1000;
}

TEST(Exchanges, OnAFabricOfTheirOwnTakeWhatTheyTakeAlone) {
  uint64_t seed = 0;
  for (const Choice& choice : kChoices) {
    for (int i = 0; i < (kIsSanitized ? 2 : 12); ++i, ++seed) {
      const double alone = exchange_of(scenario(choice, seed, "alpha_beta"));
      const double flow = exchange_of(scenario(choice, seed, "flow"));
      EXPECT_GT(alone, 0);
      EXPECT_NEAR(flow / alone, 1, 0.01) << scenario(choice, seed, "flow");
    }
  }
}

}  // namespace
}  // namespace orrery::exchanges_property_test
