// Services with changing replicas while nodes fail: in the end all desired replicas run, and no
// service ever has more replicas than its maximum.
#include <gtest/gtest.h>

#include <string>

#include "models/control_plane/autoscaling/service_scaling_rows.hpp"
#include "sim/core/rng.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/scheduler_world.hpp"

namespace orrery {
namespace {

std::string count_text(uint64_t n) { return std::to_string(n); }

std::string random_service(Rng& rng, uint64_t most) {
  std::string yaml = "    - {kind: service, name: s" + count_text(rng.below(10)) +
                     ", pod: {gpus: " + count_text(1 + rng.below(8)) +
                     "}, replicas: " + count_text(1 + rng.below(most)) + ", load: [";
  uint64_t at = 0;
  for (uint64_t i = 0; i < 1 + rng.below(6); ++i) {
    yaml += (i == 0 ? "" : ", ") + std::string{"{at: "} + count_text(at) +
            "s, load: " + count_text(rng.below(2 * most)) + "}";
    at += 1 + rng.below(300);
  }
  yaml += "], autoscaler: {replicas_max: " + count_text(most) +
          ", target: " + count_text(20 + rng.below(80)) +
          ", metrics_resolution: " + count_text(10 + rng.below(50)) +
          "s, scale_down: {stabilization: " + count_text(rng.below(120)) +
          "s, percent: " + count_text(1 + rng.below(100)) + "}}}\n";
  return yaml;
}

std::string random_scenario(Rng& rng, uint64_t most) {
  constexpr const char* kLevels[] = {"none", "delays", "full"};
  constexpr const char* kBases[] = {"default", "strict_gang", "coscheduling"};
  std::string yaml = "cluster: {pools: [{name: n, machine: dgx-a100, count: 60}]}\n";
  yaml += "control_plane: {level: " + std::string{kLevels[rng.below(3)]} + "}\n";
  yaml += "policy: {base: " + std::string{kBases[rng.below(3)]} + "}\n";
  yaml += "workload:\n  sources:\n" + random_service(rng, most) + random_service(rng, most);
  yaml += "faults:\n  list:\n";
  for (uint64_t i = 0; i < 1 + rng.below(8); ++i) {
    yaml += "    - {node: '" + count_text(rng.below(12)) + "', at: " + count_text(rng.below(1500)) +
            "s, repair: " + count_text(1 + rng.below(600)) + "s}\n";
  }
  return yaml + "record: {timeline: {interval: 10s}}\nrun: {until: 1h}\n";
}

TEST(Services, RunAllTheReplicasThatAreWantedInTheEndAndNeverMoreThanMayBe) {
  for (uint64_t seed = 0; seed < (test::kIsSanitized ? 20 : 400); ++seed) {
    SCOPED_TRACE("seed " + count_text(seed));
    Rng rng{seed};
    const uint64_t most = 2 + rng.below(18);
    ScenarioRun run{random_scenario(rng, most), {}, {.audit_every = 1}};
    const auto samples = run.recorder.rows<ServiceLoadSample>("/timeline/service_load");
    ASSERT_GE(samples.size(), 2U);
    for (const ServiceLoadSample& row : samples) {
      EXPECT_GE(row.replicas, 1);
      EXPECT_LE(row.replicas, static_cast<int32_t>(most));
      EXPECT_LE(row.running, row.replicas);
      EXPECT_LE(row.use * row.running, row.load + 1e-9);
    }
    for (const ServiceLoadSample& row : std::span{samples}.last(2)) {
      EXPECT_EQ(row.running, row.replicas);
    }
    for (const JobRow& job : run.jobs()) EXPECT_EQ(job.gpu_s_lost, 0);
  }
}

}  // namespace
}  // namespace orrery
