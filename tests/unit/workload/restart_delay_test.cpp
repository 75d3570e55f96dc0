// The delay between the detection of a failure and the recreation of the job's pods.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "models/workload/job/job_rows.hpp"
#include "models/workload/job/pod_row.hpp"
#include "models/workload/job/recovery_row.hpp"
#include "tests/support/scheduler_world.hpp"

namespace orrery {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The delays of a job whose only node fails four times.
std::vector<Duration> delays_of(const std::string& kind, const std::string& controller) {
  ScenarioRun run{
      "cluster: {pools: [{name: n, machine: dgx-a100, count: 1}]}\n"
      "policy: {base: default}\nworkload:\n  controller: " +
      controller + "\n  sources: [{kind: jobs, jobs: [{kind: " + kind +
      ", pods: 1, pod: {gpus: 8}, work: 3h}]}]\n"
      "faults: {list: [{node: '0', at: 10min, repair: 1s}, {node: '0', at: 20min, "
      "repair: 1s}, {node: '0', at: 30min, repair: 1s}, {node: '0', at: 40min, repair: "
      "1s}]}\n"};
  std::vector<Duration> delays;
  for (const RecoveryRow& row : run.recorder.rows<RecoveryRow>("/events/recoveries")) {
    delays.push_back(row.recreated - row.detected);
  }
  return delays;
}

TEST(RestartDelay, StaysAsItIsOrDoublesUpToItsMost) {
  for (const char* kind : {"mpi_gang", "pods"}) {
    EXPECT_THAT(delays_of(kind, "{restart_delay: 10s}"), ElementsAre(10_s, 10_s, 10_s, 10_s))
        << kind;
    EXPECT_THAT(delays_of(kind, "{restart_delay: 10s, restart_delay_max: 35s}"),
                ElementsAre(10_s, 20_s, 35_s, 35_s))
        << kind;
  }
}

TEST(RestartDelay, WhatIsWrongOrHasNoEffectIsRefused) {
  const auto errors = [](const std::string& controller) {
    Diagnostics diagnostics;
    const std::string yaml =
        "cluster: {pools: [{name: n, machine: dgx-a100, count: 4}]}\n"
        "workload: {sources: [{kind: jobs, jobs: [{work: 1h}]}], controller: " +
        controller + "}\n";
    const config::Document document = config::load_text(yaml, "s.yaml", diagnostics);
    static_cast<void>(read_scenario(document, diagnostics));
    return diagnostics.text();
  };
  EXPECT_EQ(errors("{restart_delay_max: 10min}"), "");
  EXPECT_THAT(errors("{restart_delay_max: 9s}"), HasSubstr("must not be less than restart_delay"));
}

}  // namespace
}  // namespace orrery
