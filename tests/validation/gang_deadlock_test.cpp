// Two jobs that need three GPUs each, on four: what becomes of them under each base profile.
#include <gtest/gtest.h>

#include "tests/support/scheduler_world.hpp"

namespace orrery {
namespace {

// Pods are created one by one, the jobs in turn: A1 B1 A2 B2 A3 B3.
constexpr const char* kInterleaved = R"(
cluster:
  machines: [{name: box, base: hgx-h100, gpus: 1}]
  pools: [{name: n, machine: box, count: 4}]
workload:
  controller: {pod_creation_interval: 100ms, pods_per_sync_max: 1}
  sources:
  - kind: jobs
    jobs:
    - {name: a, pods: 3, pod: {gpus: 1}, work: 10min}
    - {name: b, pods: 3, pod: {gpus: 1}, work: 10min}
run: {stall_limit: 2h}
)";

// Case KS-D1.
TEST(GangDeadlock, TheDefaultProfileDeadlocksBothJobsForEver) {
  ScenarioRun run{kInterleaved, {"policy.base=default"}};
  EXPECT_EQ(run.result.end, SimulationResult::End::Stalled);
  for (const JobRow& job : run.jobs()) EXPECT_EQ(job.outcome, JobOutcome::Pending);
  const auto deadlocks = run.deadlocks();
  ASSERT_EQ(deadlocks.size(), 1u);
  EXPECT_EQ(deadlocks[0].members, 2u);
  EXPECT_EQ(deadlocks[0].gpus_held, 4);
  EXPECT_EQ(deadlocks[0].resolution, DeadlockEnd::Unresolved);
  const auto members = run.members();
  ASSERT_EQ(members.size(), 2u);
  for (const DeadlockMemberRow& member : members) {
    EXPECT_EQ(member.assigned, 2);
    EXPECT_EQ(member.needed, 3);
  }
}

// The same with all pods created at one instant and sorted by arrival: whole jobs come one after
// the other, A takes 3 GPUs and B holds the fourth until A is done, which is no deadlock.
TEST(GangDeadlock, WithoutInterleavingTheDefaultProfileRunsOneAfterTheOther) {
  ScenarioRun run{
      kInterleaved,
      {"policy.base=default", "workload.controller.pod_creation_interval=0s",
       "workload.controller.pods_per_sync_max=500", "workload.controller.concurrent_syncs=1"}};
  EXPECT_EQ(run.result.end, SimulationResult::End::Done);
  EXPECT_TRUE(run.deadlocks().empty());
}

// The scheduler takes a pod up at the very instant of its creation: its nodes are decided when
// the cycle starts. So the last free GPU is taken when the fourth pod (B's second) is created,
// and from the end of that instant on neither job can be completed.
TEST(GangDeadlock, ItsOnsetIsTheInstantAtWhichTheLastGpuIsTaken) {
  ScenarioRun run{kInterleaved, {"policy.base=default", "record.attempts=true"}};
  const auto attempts = run.recorder.rows<AttemptRow>("/events/attempts");
  std::vector<Time> scheduled;
  for (const AttemptRow& row : attempts) {
    if (row.outcome == AttemptOutcome::Scheduled) scheduled.push_back(row.at);
  }
  ASSERT_EQ(scheduled.size(), 4u);
  ASSERT_EQ(run.deadlocks().size(), 1u);
  EXPECT_EQ(run.deadlocks()[0].onset, scheduled.back());
}

class GangPolicies : public testing::TestWithParam<std::string> {};

// Slower cycles, for fewer attempts in vain while one job waits for the other.
TEST_P(GangPolicies, OneJobRunsAfterTheOther) {
  ScenarioRun run{kInterleaved, {GetParam(), "policy.cost.per_cycle=10ms"}};
  ASSERT_EQ(run.result.end, SimulationResult::End::Done);
  auto jobs = run.jobs();
  ASSERT_EQ(jobs.size(), 2u);
  std::ranges::sort(jobs, {}, &JobRow::running);
  for (const JobRow& job : jobs) EXPECT_EQ(job.outcome, JobOutcome::Completed);
  EXPECT_LT(jobs[0].running, Time{} + 2_min);
  EXPECT_GE(jobs[1].running, jobs[0].ended);
  EXPECT_LT(jobs[1].running, jobs[0].ended + 6_min) << "leftovers are looked at after 5 min";
  for (const DeadlockRow& deadlock : run.deadlocks()) {
    EXPECT_NE(deadlock.resolution, DeadlockEnd::Unresolved);
  }
}
INSTANTIATE_TEST_SUITE_P(Profiles, GangPolicies,
                         testing::Values("policy.base=coscheduling", "policy.base=koordinator",
                                         "policy.base=strict_gang", "policy.base=native_gang"));

// Case GA-10: gangs A, B of one job and C, D of another, of two pods each, created in the order
// A C B D on a cluster for two gangs.
constexpr const char* kGroups = R"(
cluster:
  machines: [{name: box, base: hgx-h100, gpus: 1}]
  pools: [{name: n, machine: box, count: 4}]
workload:
  controller: {pod_creation_interval: 100ms, pods_per_sync_max: 2, concurrent_syncs: 2}
  sources:
  - kind: jobs
    jobs:
    - name: ab
      work: 10min
      gangs: [{roles: [{pods: 2, pod: {gpus: 1}}]}, {roles: [{pods: 2, pod: {gpus: 1}}]}]
    - name: cd
      work: 10min
      gangs: [{roles: [{pods: 2, pod: {gpus: 1}}]}, {roles: [{pods: 2, pod: {gpus: 1}}]}]
run: {stall_limit: 2h}
)";

TEST(GangGroups, OneRunsAfterTheOther) {
  ScenarioRun run{kGroups, {"policy.base=koordinator"}};
  ASSERT_EQ(run.result.end, SimulationResult::End::Done);
  auto jobs = run.jobs();
  ASSERT_EQ(jobs.size(), 2u);
  std::ranges::sort(jobs, {}, &JobRow::running);
  for (const JobRow& job : jobs) EXPECT_EQ(job.outcome, JobOutcome::Completed);
  EXPECT_LT(jobs[0].running, Time{} + 2_min);
  EXPECT_GE(jobs[1].running, jobs[0].ended);
  EXPECT_LT(jobs[1].running, jobs[0].ended + 6_min);
  EXPECT_TRUE(run.deadlocks().empty());
}

// Whoever looks at one gang alone starts A and C, which hold all there is while B and D wait.
class GangByGang : public testing::TestWithParam<std::string> {};

TEST_P(GangByGang, TheGroupsDeadlockForEver) {
  ScenarioRun run{kGroups, {GetParam()}};
  EXPECT_EQ(run.result.end, SimulationResult::End::Stalled);
  ASSERT_EQ(run.jobs().size(), 2u);
  for (const JobRow& job : run.jobs()) EXPECT_EQ(job.outcome, JobOutcome::Pending);
  const auto deadlocks = run.deadlocks();
  ASSERT_EQ(deadlocks.size(), 1u);
  EXPECT_EQ(deadlocks[0].gpus_held, 4);
  EXPECT_EQ(deadlocks[0].resolution, DeadlockEnd::Unresolved);
}
INSTANTIATE_TEST_SUITE_P(Profiles, GangByGang,
                         testing::Values("policy.base=default", "policy.base=coscheduling",
                                         "policy.base=strict_gang", "policy.base=native_gang"));

// GA-10's mix of whole gangs: what one job holds is never half of what it needs.
TEST(GangDeadlock, StrictGangsThatFillTheClusterRunOneAfterTheOther) {
  ScenarioRun run{R"(
cluster:
  machines: [{name: box, base: hgx-h100, gpus: 1}]
  pools: [{name: n, machine: box, count: 4}]
workload:
  controller: {pod_creation_interval: 100ms, pods_per_sync_max: 1}
  sources:
  - kind: jobs
    jobs:
    - {name: ab, work: 10min, gangs: [{roles: [{pods: 4, pod: {gpus: 1}}]}]}
    - name: cd
      work: 10min
      gangs: [{roles: [{pods: 2, pod: {gpus: 1}}, {pods: 2, pod: {gpus: 1, cpus: 1}}]}]
policy: {base: strict_gang}
run: {stall_limit: 2h}
)"};
  EXPECT_EQ(run.result.end, SimulationResult::End::Done);
  EXPECT_TRUE(run.deadlocks().empty());
}

// A gang that may start with two of three pods does, and takes the third when there is room.
TEST(GangDeadlock, AQuorumStartsWithoutItsLateMember) {
  const std::string yaml = R"(
cluster:
  machines: [{name: box, base: hgx-h100, gpus: 1}]
  pools: [{name: n, machine: box, count: 3}]
workload:
  sources:
  - kind: jobs
    jobs:
    - {name: short, pods: 1, pod: {gpus: 1}, work: 5min}
    - {name: elastic, submit: 1s, pods: 3, min_available: 2, pod: {gpus: 1}, work: 20min}
policy: {base: native_gang}
run: {stall_limit: 2h}
)";
  ScenarioRun run{yaml};
  ASSERT_EQ(run.result.end, SimulationResult::End::Done);
  auto jobs = run.jobs();
  std::ranges::sort(jobs, {}, &JobRow::job);
  EXPECT_LT(jobs[1].running, Time{} + 3_s);
  const auto scheduled =
      std::ranges::find(run.result.summary, "pods_scheduled", &SummaryValue::name);
  EXPECT_EQ(std::get<int64_t>(scheduled->value), 4);
}

}  // namespace
}  // namespace orrery
