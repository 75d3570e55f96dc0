// Link outages cost gangs as much time with `steps: rate` as with `steps: traced`.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "sim/core/rng.hpp"
#include "tests/support/agreement.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/scheduler_world.hpp"

namespace orrery {
namespace {

using test::kIsSanitized;

std::string outage_number(uint64_t n) { return std::to_string(n); }

enum class OutageSaving : uint8_t { Never, AtOnce, ToStore };

// One to three gangs, and one or two outages. No gang begins or ends near an outage. In an outage a
// spine, leaf or cable is dead, or a cable is slow. Outages are too short for NCCL to give up.
struct OutageWorld {
  std::string before, faults, after;
  std::string yaml(bool is_traced, bool fails) const {
    return before + (fails ? faults : "") +
           "workload:\n  steps: " + (is_traced ? "traced" : "rate") + after;
  }
};

OutageWorld random_outage_world(Rng& rng, uint64_t gangs, OutageSaving saving) {
  OutageWorld world;
  const uint64_t oversubscription = uint64_t{1} << rng.below(5);
  world.before = "cluster: {pools: [{name: n, machine: dgx-a100, count: 5, nodes_per_leaf: " +
                 outage_number(1 + rng.below(2)) +
                 "}]}\n"
                 "network: {level: flow, fabric: {rails: 1, oversubscription: " +
                 outage_number(oversubscription) + "}}\npolicy: {base: strict_gang}\n";
  if (saving == OutageSaving::ToStore) {
    world.before += "storage: {stores: [{name: blob, write: 20GBps, read: 40GBps}]}\n";
  }
  const uint64_t outages = 1 + rng.below(2);
  world.faults = "faults: {links: {list: [";
  uint64_t at = 20'000;
  for (uint64_t i = 0; i < outages; ++i) {
    at += rng.below(60'000);
    const uint64_t span = static_cast<uint64_t>(std::pow(10, 1.5 + rng.uniform() * 2.8));
    const std::string leaf = "leaf-" + outage_number(rng.below(3));
    const bool is_slow = rng.chance(0.2);  // else a spine, leaf or cable is dead
    const std::string on = is_slow           ? "host-" + outage_number(rng.below(3)) + ".nic-0"
                           : rng.chance(0.6) ? "spine-0"
                           : rng.chance(0.5) ? leaf
                                             : leaf + ".up-0";
    const std::string flaw = is_slow ? "degraded, bit_error_rate: 1e-9" : "dead";
    world.faults += std::string{i > 0 ? ", " : ""} + "{on: " + on + ", at: " + outage_number(at) +
                    "ms, until: " + outage_number(at + span) + "ms, flaw: {kind: " + flaw + "}}";
    at += span;
  }
  world.faults += "]}}\n";
  world.after = "\n  sources:\n    - kind: jobs\n      jobs:\n";
  for (uint64_t j = 0; j < gangs; ++j) {
    const auto compute_ms = static_cast<uint64_t>(std::pow(10, 1 + rng.uniform() * 2.2));
    const uint64_t work_ms = 400'000 + rng.below(200'000);
    const auto megabytes = static_cast<uint64_t>(static_cast<double>(compute_ms) *
                                                 std::pow(10, 0.3 + rng.uniform() * 1.4));
    world.after += "        - {name: j" + outage_number(j) +
                   ", pods: " + outage_number(gangs == 1 ? 2 + rng.below(3) : 3) +
                   ", pod: {gpus: " + outage_number(gangs == 1 ? 8 : uint64_t{4}) +
                   "}, work: " + outage_number(work_ms) + "ms, training: {";
    if (saving != OutageSaving::Never) {
      world.after += "checkpoint_interval: " + outage_number(5 + rng.below(60)) + "s, ";
    }
    if (saving == OutageSaving::AtOnce) {
      world.after += "checkpoint_write: " + outage_number(1 + rng.below(10)) + "s, ";
    } else if (saving == OutageSaving::ToStore) {
      world.after += "checkpoint: {store: blob, bytes: " + outage_number(1 + rng.below(60)) +
                     "GB, mode: " + (rng.chance(0.7) ? "sync" : "async") + "}, ";
    }
    world.after += "step: {compute: " + outage_number(compute_ms) +
                   "ms, optimizer: " + outage_number(rng.below(20)) + "ms, overlap: 0." +
                   outage_number(rng.below(10)) +
                   ", exchanges: [{bytes: " + outage_number(1 + megabytes) + "MB}]}}}\n";
  }
  return world;
}

std::vector<JobRow> jobs_with_outages(const std::string& yaml) {
  ScenarioRun run{yaml, {}, {}};
  std::vector<JobRow> rows = run.jobs();
  std::ranges::sort(rows, {}, &JobRow::job);
  return rows;
}

Duration span_of(const JobRow& row) { return row.ended - row.submitted; }

// With `steps: rate` an outage stalls a gang at once. With `steps: traced` it stalls the gang
// at the next exchange, up to one step later.
TEST(Outages, CostGangsAsMuchByTheirRateAsStepByStep) {
  test::Agreement agreement{test::kSharing};
  for (uint64_t seed = 0; seed < (kIsSanitized ? 12 : 150); ++seed) {
    SCOPED_TRACE("seed " + outage_number(seed));
    Rng rng{seed};
    const bool is_alone = seed % 6 < 3;
    const OutageWorld world = random_outage_world(rng, is_alone ? 1 : 2 + rng.below(2),
                                                  static_cast<OutageSaving>(seed % 3));
    SCOPED_TRACE(world.yaml(false, true));
    std::vector<JobRow> rows[2];
    for (const bool is_traced : {false, true}) {
      rows[is_traced] = jobs_with_outages(world.yaml(is_traced, true));
    }
    ASSERT_EQ(rows[0].size(), rows[1].size());
    for (size_t i = 0; i < rows[0].size(); ++i) {
      const JobRow &rate = rows[0][i], &steps = rows[1][i];
      agreement.expect(span_of(rate), span_of(steps));
      if (!is_alone) continue;
      EXPECT_NEAR(span_of(rate).seconds() / span_of(steps).seconds(), 1, 0.02);
    }
  }
}

}  // namespace
}  // namespace orrery
