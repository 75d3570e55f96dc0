// Actions of controllers on nodes, pods, gangs and services: done, rejected or failed; and how long
// a drain takes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/scripted_controller.hpp"

namespace orrery {
namespace {

using ::testing::HasSubstr;

std::string world(const std::string& jobs, const std::string& rest = {},
                  const std::string& plane = "none", const std::string& until = "1d") {
  return "cluster: {pools: [{name: gpu, machine: dgx-a100, count: 2}]}\n"
         "control_plane: {level: " +
         plane + "}\nworkload: {sources: [" + jobs + "]" + rest + "}\nrun: {until: " + until +
         "}\n";
}
const std::string kGang =
    "{kind: jobs, jobs: [{name: g, work: 2h, pods: 1, pod: {gpus: 8}, training: "
    "{checkpoint_interval: 1h, checkpoint_write: 1min}}]}";
const std::string kService =
    "{kind: service, name: s, replicas: 4, pod: {gpus: 1}, load: [{at: 0h, load: "
    "1}]}";

constexpr double kCycles = 0.01;  // tolerance in s: the scheduler's cycles delay starts by less
double seconds(Time time) { return (time - Time{}).seconds(); }

ActionRow only(ScriptedRun& run) {
  const std::vector<ActionRow> rows = run.actions();
  if (rows.size() != 1) {
    ADD_FAILURE() << rows.size() << " actions";
    return {};
  }
  return rows.front();
}

TEST(Actions, CordonKeepsPodsAwayAndUncordonLetsThemCome) {
  ScriptedRun run{world("{kind: jobs, jobs: [{name: j, submit: 10s, work: 1min, pods: 2, pod: "
                        "{gpus: 8}}]}"),
                  "{at: 1s, action: cordon, node: 1}, {at: 30s, action: uncordon, node: 1}"};
  ASSERT_EQ(run.actions().size(), 2U);
  for (const ActionRow& row : run.actions()) EXPECT_EQ(row.outcome, ActionOutcome::Done);
  EXPECT_NEAR(seconds(run.jobs().at(0).bound), 30, kCycles);
}

// The gang has one node and waits for the other, on which another job runs. While both nodes are
// cordoned, the gang's second pod would not fit even without the other job. So the gang is
// infeasible, and holds 8 GPUs in vain for 10 min.
TEST(Actions, ACordonMakesAWaitingGangInfeasibleUntilItIsLifted) {
  ScriptedRun run{world("{kind: jobs, jobs: [{name: other, work: 30min, pods: 1, pod: {gpus: 8}}, "
                        "{name: gang, submit: 1min, work: 1h, pods: 2, pod: {gpus: 8}}]}"),
                  "{at: 5min, action: cordon, node: 0}, {at: 5min, action: cordon, node: 1}, "
                  "{at: 15min, action: uncordon, node: 0}, {at: 15min, action: uncordon, node: 1}"};
  const auto figure = [&](std::string_view name) {
    const auto& summary = run.run.result.summary;
    return std::ranges::find(summary, name, &SummaryValue::name)->value;
  };
  EXPECT_EQ(std::get<int64_t>(figure("infeasible_gang_jobs")), 1);
  EXPECT_NEAR(std::get<double>(figure("gpu_hours_infeasible")), 8.0 / 6, 1e-6);
}

TEST(Actions, ATaintThatIsNotToleratedEndsPods) {
  ScriptedRun run{world(kService), "{at: 1min, action: taint, node: 0}"};
  EXPECT_EQ(only(run).outcome, ActionOutcome::Done);
  int evicted = 0;
  for (const PodRow& pod : run.pods()) evicted += pod.end == PodEnd::Evicted ? 1 : 0;
  EXPECT_GT(evicted, 0);
  for (const PodRow& pod : run.pods()) {
    if (pod.end == PodEnd::RunEnded) {
      EXPECT_EQ(pod.node, NodeId{1});
    }
  }
}

TEST(Actions, AnEvictionWithinItsBudgetIsDoneAndThePodComesBack) {
  ScriptedRun run{world(kService, ", disruption_budgets: [{name: b, min_available: 3}]"),
                  "{at: 1min, action: evict, rank: 2}"};
  const ActionRow row = only(run);
  EXPECT_EQ(row.outcome, ActionOutcome::Done);
  EXPECT_EQ(row.rank, 2);
  EXPECT_EQ(row.controller.view(), "Scripted");
  EXPECT_EQ(row.why.view(), "the test says so");
  EXPECT_EQ(std::ranges::count(run.pods(), PodEnd::Evicted, &PodRow::end), 1);
  EXPECT_EQ(std::ranges::count(run.pods(), PodEnd::RunEnded, &PodRow::end), 4);
}

TEST(Actions, AnEvictionAgainstItsBudgetIsAskedForEveryFiveSecondsAndRefused) {
  for (const std::string plane : {"none", "delays", "full"}) {
    SCOPED_TRACE(plane);
    ScriptedRun run{world(kService, ", disruption_budgets: [{name: b, min_available: 4}]", plane),
                    "{at: 10min, action: evict, rank: 0, retry_for: 12s}"};
    const ActionRow row = only(run);
    EXPECT_EQ(row.outcome, ActionOutcome::Refused);
    EXPECT_THAT(std::string{row.reason.view()}, HasSubstr("429: disruption budget b"));
    EXPECT_NEAR((row.ended - row.at).seconds(), 10, 0.2) << "asked at 0, 5 and 10 s";
    EXPECT_EQ(std::ranges::count(run.pods(), PodEnd::Evicted, &PodRow::end), 0);
  }
}

TEST(Actions, APodThatIsNotThereIsRefused) {
  ScriptedRun run{world(kService), "{at: 1min, action: evict, rank: 600}"};
  EXPECT_EQ(only(run).outcome, ActionOutcome::Refused);
  EXPECT_EQ(only(run).reason.view(), "there is no such pod");
}

TEST(Actions, ADrainEndsOnceItsPodsAreGone) {
  for (const std::string plane : {"none", "delays", "full"}) {
    SCOPED_TRACE(plane);
    ScriptedRun run{world(kService, ", controller: {termination: 30s}", plane),
                    "{at: 10min, action: drain, node: 0}"};
    const ActionRow row = only(run);
    EXPECT_EQ(row.outcome, ActionOutcome::Done);
    EXPECT_GT(row.amount, 0);
    EXPECT_NEAR((row.ended - row.at).seconds(), 30, 1);
    for (const PodRow& pod : run.pods()) {
      if (pod.end == PodEnd::RunEnded) {
        EXPECT_EQ(pod.node, NodeId{1}) << "node 0 is cordoned";
      }
    }
  }
}

// Case HL-29 of analysis/VALIDATION.md: minAvailable equals the replicas, so the budget allows no
// eviction. The drain is forced after 7 d, and ends one grace period later.
TEST(Actions, ABudgetHoldsADrainUpUntilItIsForced) {
  ScriptedRun run{world(kService,
                        ", controller: {termination: 30s}, disruption_budgets: [{name: b, "
                        "min_available: 4}]",
                        "none", "8d"),
                  "{at: 1min, action: drain, node: 0, force_after: 7d}"};
  const ActionRow row = only(run);
  EXPECT_EQ(row.outcome, ActionOutcome::Done);
  EXPECT_EQ(row.ended - row.at, 7_d + 30_s);
  for (const PodRow& pod : run.pods()) {
    if (pod.end == PodEnd::Evicted) {
      EXPECT_EQ(pod.ended, Time{} + 1_min + 7_d + 30_s);
    }
  }
}

TEST(Actions, ADrainFailsAtItsDeadline) {
  ScriptedRun run{world(kService, ", disruption_budgets: [{name: b, min_available: 4}]"),
                  "{at: 1min, action: drain, node: 0, deadline: 10min}"};
  const ActionRow row = only(run);
  EXPECT_EQ(row.outcome, ActionOutcome::Failed);
  EXPECT_EQ(row.ended - row.at, 10_min);
  EXPECT_THAT(std::string{row.reason.view()}, HasSubstr("are left at the deadline"));
  EXPECT_EQ(std::ranges::count(run.pods(), PodEnd::Evicted, &PodRow::end), 0);
}

TEST(Actions, ADrainFailsWhenAnEvictionStaysForbidden) {
  ScriptedRun run{world(kService, ", disruption_budgets: [{name: b, min_available: 4}]"),
                  "{at: 1min, action: drain, node: 0, deadline: 12min, evict_for: 2min}"};
  const ActionRow row = only(run);
  EXPECT_EQ(row.outcome, ActionOutcome::Failed);
  EXPECT_EQ(row.ended - row.at, 2_min);
  EXPECT_THAT(std::string{row.reason.view()}, HasSubstr("429: disruption budget b"));
  // The eviction of each pod is tried every 5 s: 24 times before 2 min have passed. The first
  // eviction that is forbidden at 2 min fails the drain.
  EXPECT_EQ(row.tries, 24U * static_cast<uint32_t>(row.amount) + 1);
}

TEST(Actions, ADrainThatGivesUpEarlierIsNotForced) {
  ScriptedRun run{world(kService, ", disruption_budgets: [{name: b, min_available: 4}]"),
                  "{at: 1min, action: drain, node: 0, force_after: 5min, evict_for: 2min}"};
  const ActionRow row = only(run);
  EXPECT_EQ(row.outcome, ActionOutcome::Failed);
  EXPECT_EQ(row.ended - row.at, 2_min);
}

TEST(Actions, ASecondDrainAndAnUncordonMeanwhileAreRefused) {
  ScriptedRun run{world(kService, ", disruption_budgets: [{name: b, min_available: 4}]"),
                  "{at: 1min, action: drain, node: 0}, {at: 2min, action: drain, node: 0}, {at: "
                  "3min, action: uncordon, node: 0}"};
  ASSERT_EQ(run.actions().size(), 3U);
  EXPECT_EQ(run.actions()[0].outcome, ActionOutcome::Refused);
  EXPECT_EQ(run.actions()[1].outcome, ActionOutcome::Refused);
  EXPECT_EQ(run.actions()[2].outcome, ActionOutcome::UnderWay);
}

// The gang has 2 h of work. It writes a checkpoint, which takes 1 min, after each hour of work and
// when it is suspended. So after the suspension at 30 min, it resumes with 1.5 h of work left.
TEST(Actions, ASuspendedGangKeepsWhatItComputedAndWaits) {
  ScriptedRun run{world(kGang), "{at: 30min, action: suspend}, {at: 2h, action: resume}"};
  ASSERT_EQ(run.actions().size(), 2U);
  for (const ActionRow& row : run.actions()) EXPECT_EQ(row.outcome, ActionOutcome::Done);
  const JobRow job = run.jobs().at(0);
  EXPECT_EQ(job.outcome, JobOutcome::Completed);
  EXPECT_EQ(job.gpu_s_lost, 0);
  EXPECT_NEAR(seconds(job.ended), 7200 + 5400 + 60, kCycles)
      << "one regular checkpoint after the resume";
}

TEST(Actions, AGangWithoutCheckpointsLosesWhatItComputed) {
  ScriptedRun run{world("{kind: jobs, jobs: [{name: g, work: 2h, pods: 1, pod: {gpus: 8}}]}"),
                  "{at: 30min, action: suspend}, {at: 2h, action: resume}"};
  EXPECT_NEAR(run.jobs().at(0).gpu_s_lost, 8 * 1800.0, 8 * kCycles);
  EXPECT_NEAR(seconds(run.jobs().at(0).ended), 4 * 3600, kCycles);
}

TEST(Actions, WithAJobQueueASuspendedGangGoesBackIntoTheQueue) {
  ScriptedRun run{world(kGang),
                  "{at: 30min, action: suspend}, {at: 2h, action: resume}",
                  {"policy.job_queue={policies: [{name: FIFO}]}"}};
  ASSERT_EQ(run.actions().size(), 2U);
  EXPECT_EQ(run.actions()[0].outcome, ActionOutcome::Done);
  EXPECT_EQ(run.actions()[1].reason.view(), "the job queue decides when jobs start");
  EXPECT_EQ(run.jobs().at(0).gpu_s_lost, 0);
  EXPECT_NEAR(seconds(run.jobs().at(0).ended), 2 * 3600 + 2 * 60, kCycles)
      << "two checkpoints; the queue starts the gang again at once";
}

TEST(Actions, WithoutApiServersAnActionFails) {
  ScriptedRun run{world(kService, {}, "full"),
                  "{at: 10min, action: cordon, node: 0}, {at: 10min, action: drain, node: 1}, {at: "
                  "10min, action: evict}",
                  {"control_plane.api_servers={servers: 1}",
                   "control_plane.losses=[{server: 0, at: 9min, until: 1d}]"}};
  ASSERT_EQ(run.actions().size(), 3U);
  for (const ActionRow& row : run.actions()) {
    EXPECT_EQ(row.outcome, ActionOutcome::Failed);
    EXPECT_THAT(std::string{row.reason.view()}, HasSubstr("the API servers did not"));
  }
}

TEST(Actions, ForbiddenActionsAreRejected) {
  ScriptedRun run{world(kService),
                  "{at: 1min, action: suspend}, {at: 1min, action: resume}, {at: 1min, action: "
                  "resize, replicas: 9}, {at: 1min, action: cordon, node: 99}, {at: 1min, action: "
                  "suspend, job: 9}, {at: 1min, action: add_nodes, node: 0}, {at: 1min, "
                  "action: remove_nodes, node: 0}"};
  ASSERT_EQ(run.actions().size(), 7U);
  for (const ActionRow& row : run.actions()) {
    EXPECT_EQ(row.outcome, ActionOutcome::Refused);
    EXPECT_FALSE(row.reason.view().empty());
  }
}

TEST(Actions, AServiceIsResized) {
  ScriptedRun run{world(kService), "{at: 1min, action: resize, replicas: 2}"};
  EXPECT_EQ(only(run).outcome, ActionOutcome::Done);
  EXPECT_EQ(std::ranges::count(run.pods(), PodEnd::RunEnded, &PodRow::end), 2);
}

}  // namespace
}  // namespace orrery
