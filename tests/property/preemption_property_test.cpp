// Random pods of random priorities: no pod is preempted for a pod of equal or lower priority. Pods,
// jobs and the summary count the same preemptions. With equal priorities preemption changes
// nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "models/workload/job/job_rows.hpp"
#include "models/workload/job/pod_row.hpp"
#include "models/workload/job/recovery_row.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/scheduler_world.hpp"

namespace orrery {
namespace {

class RandomPriorities {
 public:
  explicit RandomPriorities(uint64_t seed) : random_{seed} {}

  std::string yaml(int priorities) {
    std::string text = "cluster:\n  machines: [{name: box, base: hgx-h100, gpus: 4}]\n";
    text += "  pools: [{name: n, machine: box, count: " + std::to_string(pick(1, 8)) + "}]\n";
    const bool may_linger = priorities > 1 && pick(0, 1) == 0;
    if (may_linger) text += "workload:\n  controller: {termination: " + ms(0, 9'000) + "}\n";
    if (!may_linger) text += "workload:\n";
    text += "  sources:\n  - kind: jobs\n    jobs:\n";
    const int jobs = pick(4, 24);
    const bool is_of_pods = pick(0, 2) == 0;
    for (int i = 0; i < jobs; ++i) {
      const int pods = pick(1, 4);
      text += "    - {kind: " + std::string{!is_of_pods && pods > 1 ? "mpi_gang" : "pods"};
      text += ", submit: " + ms(0, 60'000) + ", work: " + ms(1, 40'000);
      const int priority = i < 2 ? std::min(i + 1, priorities) : pick(1, priorities);
      text += ", priority: " + std::to_string(priority) + ", pods: " + std::to_string(pods) +
              ", pod: {gpus: " + std::to_string(pick(0, 4)) +
              ", cpus: " + std::to_string(pick(1, 40)) + "}";
      text += ", training: {checkpoint_interval: " + ms(1'000, 20'000) + "}}\n";
    }
    const char* const levels[] = {"none", "delays", "full"};
    text += "control_plane: {level: " + std::string{levels[pick(0, 2)]} + "}\n";
    // A gang that never fits is retried for ever, and may preempt others again and again. So runs
    // with gangs are ended by `until`.
    const bool has_gangs = text.find("mpi_gang") != std::string::npos;
    text += "run: {" + std::string{has_gangs ? "until: 4min" : "stall_limit: 10min"} + "}\n";
    text += "policy: {cost: {per_cycle: 50ms}}\n";
    return text;
  }

 private:
  int pick(int least, int most) {
    return least + static_cast<int>(random_.next() % static_cast<uint64_t>(most - least + 1));
  }
  std::string ms(int least, int most) { return std::to_string(pick(least, most)) + "ms"; }
  Rng random_;
};

int64_t preemption_figure(const SimulationResult& result, std::string_view name) {
  for (const SummaryValue& value : result.summary) {
    if (value.name == name) return std::get<int64_t>(value.value);
  }
  ADD_FAILURE() << "no figure " << name;
  return -1;
}

class PreemptionProperty : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(PreemptionProperty, NoVictimGoesForAPodThatDoesNotPrecedeIt) {
  int64_t preempted = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    const std::string yaml = RandomPriorities{seed}.yaml(4);
    SCOPED_TRACE(testing::Message() << "seed " << seed << "\n" << yaml);
    const bool has_gangs = yaml.find("mpi_gang") != std::string::npos;
    ScenarioRun run{yaml, GetParam(), {.audit_every = test::kIsSanitized ? 20u : 1u}};
    std::map<uint64_t, JobRow> jobs;
    for (const JobRow& row : run.jobs()) jobs[row.job] = row;
    std::map<uint64_t, int32_t> lost;
    for (const PreemptionRow& row : run.recorder.rows<PreemptionRow>("/events/preemptions")) {
      EXPECT_LT(row.priority, row.by_priority);
      EXPECT_EQ(row.priority, jobs.at(row.job).priority);
      EXPECT_EQ(row.by_priority, jobs.at(row.by_job).priority);
    }
    for (const PodRow& row : run.recorder.rows<PodRow>("/pods")) {
      if (row.end == PodEnd::Preempted) ++lost[row.job];
    }
    int64_t all = 0;
    for (const auto& [job, row] : jobs) {
      EXPECT_EQ(row.preemptions, lost[job]) << "job " << job;
      all += row.preemptions;
      // Without gangs, every job completes. Runs with gangs may end earlier, at `until`.
      EXPECT_TRUE(has_gangs || row.outcome == JobOutcome::Completed) << "job " << job;
    }
    EXPECT_EQ(all, preemption_figure(run.result, "pods_preempted"));
    preempted += all;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(preempted, 100);
}

TEST(PreemptionAmongEquals, ChangesNothing) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const std::string yaml = RandomPriorities{seed}.yaml(1);
    SCOPED_TRACE(testing::Message() << "seed " << seed << "\n" << yaml);
    ScenarioRun with{yaml};
    ScenarioRun without{yaml, {"policy.disable=[DefaultPreemption]"}};
    EXPECT_EQ(with.result.digest, without.result.digest);
    EXPECT_EQ(preemption_figure(with.result, "pods_preempted"), 0);
    if (testing::Test::HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Profiles, PreemptionProperty,
                         testing::Values(std::vector<std::string>{"policy.base=default"},
                                         std::vector<std::string>{
                                             "policy.base=coscheduling",
                                             "policy.plugins=[{name: DefaultPreemption}]"}));

}  // namespace
}  // namespace orrery
