// Jobs end at nearly the same time with `steps: rate` and with `steps: traced`.
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

using test::Agreement;
using test::kIsSanitized;
using test::kSharing;

std::string yaml_number(uint64_t n) { return std::to_string(n); }

// One gang on its own cluster: steps, exchanges, checkpoints and a failure, all at random.
std::string random_scenario(Rng& rng, const std::string& steps) {
  const uint64_t pods = 2 + rng.below(30);
  const uint64_t compute_ms = 20 + rng.below(500);
  const bool has_store = rng.chance(0.5);
  std::string yaml = "cluster: {pools: [{name: n, machine: " +
                     std::string{rng.chance(0.5) ? "dgx-a100" : "dgx-h100"} +
                     ", count: " + yaml_number(pods + 2) +
                     ", nodes_per_leaf: " + yaml_number(2 + rng.below(20)) + "}]}\n";
  yaml += "network: {level: " + std::string{rng.chance(0.7) ? "flow" : "alpha_beta"} + "}\n";
  if (has_store) yaml += "storage: {stores: [{name: blob, write: 40GBps, read: 80GBps}]}\n";
  yaml += "workload:\n  steps: " + steps + "\n  training:\n";
  yaml += "    checkpoint_interval: " +
          yaml_number(rng.chance(0.3) ? 1 + rng.below(5) : 60 + rng.below(600)) + "s\n";
  if (has_store) {
    yaml += "    checkpoint: {store: blob, bytes: " + yaml_number(1 + rng.below(2000)) +
            "GB, mode: " + (rng.chance(0.5) ? "sync" : "async") + "}\n";
  } else {
    yaml += "    checkpoint_write: " + yaml_number(1 + rng.below(20)) + "s\n";
  }
  constexpr const char* kCollectives[] = {"all_reduce", "all_gather", "reduce_scatter",
                                          "all_to_all"};
  yaml += "    step:\n      compute: " + yaml_number(compute_ms) + "ms\n      exchanges:\n";
  for (uint64_t i = 0; i < 1 + rng.below(3); ++i) {
    yaml += "        - {among: all, bytes: " +
            yaml_number(1 + rng.below(rng.chance(0.2) ? 100'000 : 3000)) +
            "MB, collective: " + kCollectives[rng.below(4)] + "}\n";
  }
  yaml += "      overlap: 0." + yaml_number(rng.below(10)) + "\n";
  yaml += "      optimizer: " + yaml_number(rng.below(30)) + "ms\n";
  yaml +=
      "  sources:\n    - kind: jobs\n      jobs:\n        - {name: a, pods: " + yaml_number(pods) +
      ", pod: {gpus: 8}, work: " + yaml_number(compute_ms * 5) + "s}\n";
  if (rng.chance(0.5)) {
    yaml += "faults: {list: [{node: '0', at: " + yaml_number(100 + rng.below(1000)) +
            "s, repair: 1min}]}\n";
  }
  return yaml + "policy: {base: strict_gang}\n";
}

std::vector<JobRow> jobs_of(const std::string& yaml) {
  ScenarioRun run{yaml, {}, {}};
  std::vector<JobRow> rows = run.jobs();
  std::ranges::sort(rows, {}, &JobRow::job);
  return rows;
}

TEST(Steps, PlayedOneByOneEndWhenTheirRateSays) {
  int exchanged = 0;
  for (uint64_t seed = 0; seed < (kIsSanitized ? 5 : 25); ++seed) {
    SCOPED_TRACE("seed " + yaml_number(seed));
    Time ended[2];
    for (const bool is_traced : {false, true}) {
      Rng rng{seed};
      const JobRow row = jobs_of(random_scenario(rng, is_traced ? "traced" : "rate")).at(0);
      EXPECT_EQ(row.outcome, JobOutcome::Completed);
      exchanged += row.gpu_s_exchange > 0 ? 1 : 0;
      ended[is_traced ? 1 : 0] = row.ended;
    }
    EXPECT_NEAR(ended[1].seconds() / ended[0].seconds(), 1, 1e-3);
  }
  EXPECT_GT(exchanged, 4) << "else it would say nothing";
}

// Random checkpoint settings of a job, with an interval from 3 s to 302 s. Half of the jobs
// have no checkpoints; their settings are empty.
std::string random_checkpoints(Rng& rng) {
  if (rng.chance(0.5)) return "";
  std::string yaml = "            checkpoint_interval: " + yaml_number(3 + rng.below(300)) + "s\n";
  if (rng.chance(0.5)) {
    return yaml +
           "            checkpoint: {store: blob, bytes: " + yaml_number(1 + rng.below(500)) +
           "GB, mode: " + (rng.chance(0.5) ? "sync" : "async") + "}\n";
  }
  return yaml + "            checkpoint_write: " + yaml_number(rng.below(10)) + "s\n";
}

// Two to four gangs that arrive within 5 min, on a fabric with four nodes per leaf. Three link
// faults each make one cable dead, degraded or flapping. In some worlds a node fails, too. If
// `fills_leaves` is true, gangs fill whole leaves and share no link, and cables of hosts may have
// faults, too. If it is false, gangs may share links, and only cables between switches have faults.
std::string random_fabric(Rng& rng, const std::string& steps, bool fills_leaves,
                          uint64_t oversubscription) {
  constexpr const char* kEngines[] = {"dmodk", "updn", "minhop", "ecmp"};
  std::string yaml =
      "cluster: {pools: [{name: n, machine: dgx-a100, count: 32, nodes_per_leaf: 4}]}\n"
      "network: {level: flow, fabric: {oversubscription: " +
      yaml_number(oversubscription) +
      "}, routing: {engine: " + std::string{fills_leaves ? "dmodk" : kEngines[rng.below(4)]} +
      "}}\n";
  yaml += "policy: {base: strict_gang}\n";
  yaml += "faults:\n";
  if (rng.chance(0.3)) {
    yaml += "  list: [{node: '" + yaml_number(rng.below(8)) +
            "', at: " + yaml_number(200 + rng.below(1000)) + "s, repair: 1min}]\n";
  }
  yaml += "  links:\n    list:\n";
  for (uint64_t i = 0; i < 3; ++i) {
    const uint64_t at = 100 + rng.below(1000);
    const std::string until = ", until: " + yaml_number(at + 50 + rng.below(1000)) + "s";
    const std::string flaw = rng.chance(0.4) ? until + ", flaw: {kind: dead}"
                             : rng.chance(0.5)
                                 ? until + ", flaw: {kind: degraded, bit_error_rate: " +
                                       (fills_leaves ? "1e-9}" : "1e-11}")
                                 : ", flaw: {kind: flap}";
    const std::string cable =
        !fills_leaves || rng.chance(0.5)
            ? "leaf-" + yaml_number(rng.below(64)) + ".up-" + yaml_number(rng.below(2))
            : "host-" + yaml_number(rng.below(8)) + ".nic-" + yaml_number(rng.below(8));
    yaml += "      - {on: " + cable + ", at: " + yaml_number(at) + "s" + flaw + "}\n";
  }
  yaml += "workload:\n  steps: " + steps + "\n  sources:\n    - kind: jobs\n      jobs:\n";
  const uint64_t gangs = 2 + rng.below(3);
  for (uint64_t j = 0; j < gangs; ++j) {
    const uint64_t nodes = fills_leaves ? 4 * (1 + rng.below(2)) : 2 + rng.below(7);
    const uint64_t compute_ms = 20 + rng.below(300);
    const bool has_tensor = rng.chance(0.3);
    yaml += "        - name: j" + yaml_number(j) +
            "\n          submit: " + yaml_number(rng.below(300)) +
            "s\n          pods: " + yaml_number(nodes) +
            "\n          pod: {gpus: 8}\n          work: " +
            yaml_number(compute_ms * 5000 + rng.below(5000)) + "ms\n          training:\n" +
            random_checkpoints(rng) + "            step: {compute: " + yaml_number(compute_ms) +
            "ms, overlap: 0." + yaml_number(rng.below(6)) +
            ", data: " + yaml_number(rng.below(20)) + "ms, ";
    if (has_tensor) yaml += "parallel: {tensor: 4}, ";
    yaml += "exchanges: [{bytes: " + yaml_number(100 + rng.below(4000)) + "MB" +
            (has_tensor ? "}, {among: tensor, bytes: 20MB, count: 40" : "") + "}]}\n";
  }
  if (yaml.find("store: blob") == std::string::npos) return yaml;
  return yaml + "storage: {stores: [{name: blob, write: 40GBps, read: 80GBps}]}\n";
}

TEST(Steps, OfGangsThatMeetOnNoLinkEndWhenTheirRateSaysThroughLinkFaults) {
  for (uint64_t seed = 0; seed < (kIsSanitized ? 3 : 15); ++seed) {
    SCOPED_TRACE("seed " + yaml_number(seed));
    std::vector<JobRow> rows[2];
    for (const bool is_traced : {false, true}) {
      Rng rng{seed};
      rows[is_traced] = jobs_of(random_fabric(rng, is_traced ? "traced" : "rate", true, 1));
    }
    ASSERT_EQ(rows[0].size(), rows[1].size());
    for (size_t i = 0; i < rows[0].size(); ++i) {
      // Each of the three link faults may cost one step more in one run than in the other. A job
      // has about 5,000 steps.
      EXPECT_NEAR(rows[1][i].run.seconds() / rows[0][i].run.seconds(), 1, 2e-3) << i;
    }
  }
}

// The rate of gangs that share contended links comes from SharedLinks, which simulates (rehearses)
// some steps of these gangs.
TEST(Steps, OfGangsThatShareLinksEndWhenTheirRateSays) {
  Agreement agreement{kSharing};
  for (uint64_t seed = 0; seed < (kIsSanitized ? 3 : 25); ++seed) {
    SCOPED_TRACE("seed " + yaml_number(seed));
    std::vector<JobRow> rows[2];
    for (const bool is_traced : {false, true}) {
      Rng rng{seed};
      rows[is_traced] =
          jobs_of(random_fabric(rng, is_traced ? "traced" : "rate", false, 1 + seed % 2));
    }
    for (size_t i = 0; i < rows[0].size(); ++i) {
      agreement.expect(rows[0][i].run, rows[1][i].run);
    }
  }
  EXPECT_GT(agreement.jobs(), 5);
}

// Two to five gangs of three pods each, on three or four nodes. Each node has a leaf of its own, so
// gangs that share a node also share the oversubscribed up-links of this leaf. About half of the
// gangs make checkpoints. With `fails`, a node fails.
std::string random_neighbours(Rng& rng, const std::string& steps, bool fails) {
  const uint64_t nodes = 3 + rng.below(2);
  constexpr const char* kPatterns[] = {"", "", ", algorithm: tree", ", algorithm: hierarchical",
                                       ", collective: all_to_all"};
  std::string yaml = "cluster: {pools: [{name: n, machine: dgx-a100, count: " + yaml_number(nodes) +
                     ", nodes_per_leaf: 1}]}\nnetwork: {level: flow, fabric: {rails: 1, "
                     "oversubscription: " +
                     yaml_number(uint64_t{2} << rng.below(3)) + "}}\npolicy: {base: strict_gang}\n";
  if (fails) {
    yaml += "faults: {list: [{node: '" + yaml_number(rng.below(nodes)) +
            "', at: " + yaml_number(5 + rng.below(600)) +
            "s, repair: " + yaml_number(50 + rng.below(500)) + "s}]}\n";
  }
  const std::string delay = "restart_delay: " + yaml_number(1 + rng.below(100)) + "s";
  yaml += "workload:\n  steps: " + steps + "\n  controller: {" + (fails ? delay : "") +
          "}\n  sources:\n    - kind: jobs\n      jobs:\n";
  for (uint64_t j = 0, gangs = 2 + rng.below(4); j < gangs; ++j) {
    const auto compute_ms = static_cast<uint64_t>(std::pow(10, 1 + rng.uniform() * 2.2));
    const uint64_t work_ms = compute_ms * (1000 + rng.below(5000)) + rng.below(compute_ms);
    const auto megabytes = static_cast<uint64_t>(static_cast<double>(compute_ms) *
                                                 std::pow(10, 0.5 + rng.uniform() * 1.2));
    yaml += "        - {name: j" + yaml_number(j) +
            ", submit: " + yaml_number(rng.below(work_ms / 3000 + 1)) + "s, pods: 3, pod: {gpus: " +
            yaml_number(rng.chance(0.8) ? uint64_t{2} << rng.below(2) : 8) +
            "}, work: " + yaml_number(work_ms) + "ms, training: {";
    if (rng.chance(0.5)) {
      yaml += "checkpoint_interval: " + yaml_number(7 + rng.below(200)) +
              "s, checkpoint_write: " + yaml_number(1 + rng.below(20)) + "s, ";
    }
    yaml += "step: {compute: " + yaml_number(compute_ms) + "ms, overlap: 0." +
            yaml_number(rng.below(10)) + ", exchanges: [{bytes: " + yaml_number(megabytes) + "MB" +
            kPatterns[rng.below(5)] + "}]}}}\n";
  }
  return yaml;
}

TEST(Steps, OfGangsThatShareNodesEndWhenTheirRateSays) {
  Agreement agreement{kSharing};
  for (uint64_t seed = 0; seed < (kIsSanitized ? 8 : 60); ++seed) {
    SCOPED_TRACE("seed " + yaml_number(seed));
    std::vector<JobRow> rows[2];
    for (const bool is_traced : {false, true}) {
      Rng rng{seed};
      rows[is_traced] =
          jobs_of(random_neighbours(rng, is_traced ? "traced" : "rate", seed % 2 == 0));
    }
    for (size_t i = 0; i < rows[0].size(); ++i) {
      // Skips a gang that a failure restarted in only one of the two runs.
      if (rows[0][i].restarts != rows[1][i].restarts) continue;
      agreement.expect(rows[0][i].ended - rows[0][i].submitted,
                       rows[1][i].ended - rows[1][i].submitted);
    }
  }
}

// The only spine fails for a while, so gangs that exchange between nodes stall. In half of the runs
// the outage lasts 60 s, and NCCL gives up after 34 s. In the others it lasts less than 26 s, so
// the gangs resume when the spine is back.
TEST(Steps, OfGangsThatLoseTheirSpineEndWhenTheirRateSays) {
  Agreement agreement{kSharing};
  int restarts = 0;
  for (uint64_t seed = 0; seed < (kIsSanitized ? 8 : 60); ++seed) {
    SCOPED_TRACE("seed " + yaml_number(seed));
    std::vector<JobRow> rows[2];
    for (const bool is_traced : {false, true}) {
      Rng rng{seed};
      const bool gives_up = seed % 2 == 0;  // such runs also have a node failure
      std::string yaml = random_neighbours(rng, is_traced ? "traced" : "rate", gives_up);
      const uint64_t at = 5'000 + rng.below(60'000);
      const uint64_t span = gives_up ? 60'000 : 1'000 + rng.below(25'000);
      const std::string links = "links: {list: [{on: spine-0, at: " + yaml_number(at) +
                                "ms, until: " + yaml_number(at + span) +
                                "ms, flaw: {kind: dead}}]}";
      if (!gives_up) yaml += "faults: {}\n";
      yaml.insert(yaml.find("faults: {") + 9, gives_up ? links + ", " : links);
      rows[is_traced] = jobs_of(yaml);
    }
    for (size_t i = 0; i < rows[0].size(); ++i) {
      restarts += rows[0][i].restarts;
      if (rows[0][i].restarts != rows[1][i].restarts) continue;
      agreement.expect(rows[0][i].ended - rows[0][i].submitted,
                       rows[1][i].ended - rows[1][i].submitted);
    }
  }
  EXPECT_GT(restarts, kIsSanitized ? 1 : 10);
}

// Three to six gangs that write large checkpoints to one store, which is usually the bottleneck.
// With `is_contended` the gangs also share thin links.
std::string random_savers(Rng& rng, const std::string& steps, bool is_contended) {
  const uint64_t nodes = 3 + rng.below(6);
  std::string yaml = "cluster: {pools: [{name: n, machine: dgx-a100, count: " + yaml_number(nodes) +
                     ", nodes_per_leaf: 1}]}\nnetwork: ";
  yaml += is_contended ? "{level: flow, fabric: {rails: 1, oversubscription: " +
                             yaml_number(uint64_t{2} << rng.below(3)) + "}}\n"
                       : "{level: alpha_beta}\n";
  yaml +=
      "policy: {base: strict_gang}\nstorage: {stores: [{name: blob, write: 20GBps, read: 40GBps}]}";
  yaml += "\nworkload:\n  steps: " + steps + "\n  sources:\n    - kind: jobs\n      jobs:\n";
  for (uint64_t j = 0, gangs = 3 + rng.below(4); j < gangs; ++j) {
    const auto compute_ms = static_cast<uint64_t>(std::pow(10, 1 + rng.uniform() * 2));
    const uint64_t work_ms = compute_ms * (500 + rng.below(3000)) + rng.below(compute_ms);
    const uint64_t interval = 1 + work_ms / 1000 / (2 + rng.below(28));
    const auto gigabytes =
        static_cast<uint64_t>(static_cast<double>(interval) * 20 * std::pow(10, -rng.uniform()));
    const auto megabytes = static_cast<uint64_t>(static_cast<double>(compute_ms) *
                                                 std::pow(10, rng.uniform() * 1.7 - 0.5));
    yaml += "        - {name: j" + yaml_number(j) + ", submit: " + yaml_number(rng.below(400)) +
            "s, pods: " + yaml_number(2 + rng.below(2)) +
            ", pod: {gpus: " + yaml_number(uint64_t{1} << rng.below(4)) +
            "}, work: " + yaml_number(work_ms) +
            "ms, training: {checkpoint_interval: " + yaml_number(interval) +
            "s, checkpoint: {store: blob, bytes: " + yaml_number(1 + gigabytes) +
            "GB, mode: " + (rng.chance(0.8) ? "sync" : "async") +
            "}, step: {compute: " + yaml_number(compute_ms) +
            "ms, optimizer: " + yaml_number(rng.below(20)) + "ms, overlap: 0." +
            yaml_number(rng.below(10)) + ", exchanges: [{bytes: " + yaml_number(1 + megabytes) +
            "MB}]}}}\n";
  }
  return yaml;
}

TEST(Steps, OfGangsThatFillAStoreEndWhenTheirRateSays) {
  Agreement agreement{kSharing};
  for (uint64_t seed = 0; seed < (kIsSanitized ? 8 : 60); ++seed) {
    SCOPED_TRACE("seed " + yaml_number(seed));
    const bool is_contended = seed % 2 == 0;
    std::vector<JobRow> rows[2];
    for (const bool is_traced : {false, true}) {
      Rng rng{seed};
      rows[is_traced] = jobs_of(random_savers(rng, is_traced ? "traced" : "rate", is_contended));
    }
    for (size_t i = 0; i < rows[0].size(); ++i) {
      agreement.expect(rows[0][i].ended - rows[0][i].submitted,
                       rows[1][i].ended - rows[1][i].submitted);
    }
  }
}

}  // namespace
}  // namespace orrery
