// A job on its way through the control plane: what each level costs it.
#include <gtest/gtest.h>

#include <string>

#include "sim/core/rng.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/scheduler_world.hpp"

namespace orrery {
namespace {

using test::kIsSanitized;

std::string number(uint64_t n) { return std::to_string(n); }

std::string random_job(Rng& rng, const std::string& control_plane, bool has_image) {
  constexpr const char* kBases[] = {"default", "strict_gang", "coscheduling"};
  constexpr const char* kControllers[] = {"job", "replica_set", "parallel_stateful_set",
                                          "ordered_stateful_set"};
  const bool are_pods = rng.chance(0.3);
  std::string yaml =
      "cluster: {pools: [{name: n, machine: dgx-a100, count: " + number(4 + rng.below(40)) +
      "}]}\n";
  yaml += "control_plane: " + control_plane + "\n";
  yaml += "policy: {base: " + std::string{kBases[rng.below(3)]} + "}\n";
  yaml += "workload:\n  controller: {pod_start: {median: " + number(rng.below(5)) + "s}}\n";
  yaml +=
      "  sources:\n    - kind: jobs\n      jobs:\n        - {submit: " + number(rng.below(100)) +
      "s, kind: " + (are_pods ? "pods" : "mpi_gang") + ", pods: " + number(1 + rng.below(12)) +
      ", controller: " + kControllers[rng.below(are_pods ? 4 : 3)] +
      ", pod: {gpus: " + number(1 + rng.below(3)) +
      (has_image ? ", image: {name: i, size: 100MB}" : "") +
      "}, work: " + number(1 + rng.below(1000)) + "s}\n";
  return yaml;
}

JobRow only_job(const std::string& yaml) {
  ScenarioRun run{yaml, {}, {.audit_every = 10}};
  EXPECT_EQ(run.jobs().size(), 1U);
  return run.jobs().at(0);
}

constexpr const char* kInfinitelyFast =
    "{level: full, pods: {watch_latency: 0s}, kubelet: {sandbox: 0s, container: 0s}, "
    "etcd: {commit_latency: 0s}, "
    "clients: {controller_manager: {qps: 1e9, burst: 1000000000}, "
    "scheduler: {qps: 1e9, burst: 1000000000}}, "
    "api_servers: {server: {egress: 0Gbps, cost: {write: 0s, read: 0s, watch: 0s, cached_object: "
    "0, sent_byte: 0}}}}";

TEST(ControlPlane, NeverLetsAJobStartEarlierThanACheaperLevelDoes) {
  for (uint64_t seed = 0; seed < (kIsSanitized ? 20 : 200); ++seed) {
    SCOPED_TRACE("seed " + number(seed));
    JobRow rows[4];
    const std::string levels[] = {"{level: none}", kInfinitelyFast, "{level: delays}",
                                  "{level: full}"};
    for (size_t i = 0; i < 4; ++i) {
      Rng rng{seed};
      const bool has_image = i >= 2 && seed % 2 == 1;
      rows[i] = only_job(random_job(rng, levels[i], has_image));
      EXPECT_EQ(rows[i].outcome, JobOutcome::Completed);
    }
    EXPECT_EQ(rows[1].created, rows[0].created);
    EXPECT_EQ(rows[1].bound, rows[0].bound);
    EXPECT_EQ(rows[1].running, rows[0].running);
    EXPECT_EQ(rows[1].ended, rows[0].ended);
    EXPECT_GT(rows[2].running, rows[0].running);
    EXPECT_GE(rows[3].running, rows[2].running);
  }
}

// Where jobs notice that a node died before it can tell them, being back.
TEST(ControlPlane, ThatIsInfinitelyFastChangesNothingForJobsThatNoticeFailuresThemselves) {
  for (uint64_t seed = 0; seed < (kIsSanitized ? 10 : 100); ++seed) {
    SCOPED_TRACE("seed " + number(seed));
    JobRow rows[2];
    const std::string levels[] = {"{level: none}", kInfinitelyFast};
    for (size_t i = 0; i < 2; ++i) {
      Rng rng{seed};
      std::string yaml = random_job(rng, levels[i], false);
      yaml.replace(yaml.find("controller: {"), 13, "controller: {failure_detection: 5s, ");
      yaml += "faults: {list: [{node: '" + number(rng.below(4)) +
              "', at: " + number(rng.below(300)) + "s, repair: " + number(6 + rng.below(100)) +
              "s}, {node: '" + number(rng.below(4)) + "', at: " + number(rng.below(300)) +
              "s, repair: 6s}]}\n";
      rows[i] = only_job(yaml);
      EXPECT_EQ(rows[i].outcome, JobOutcome::Completed);
    }
    EXPECT_EQ(rows[1].restarts, rows[0].restarts);
    EXPECT_EQ(rows[1].bound, rows[0].bound);
    EXPECT_EQ(rows[1].running, rows[0].running);
    EXPECT_EQ(rows[1].ended, rows[0].ended);
  }
}

}  // namespace
}  // namespace orrery
