// Records of failed attempts and of jobs that wait in the job queue. Unless attempts are recorded,
// the tables do not exist.
#include "models/scheduling/cycle/attempt_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "models/scheduling/job_queue/job_queue_log.hpp"
#include "tests/support/scheduler_world.hpp"

namespace orrery {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<RejectionRow> rejections_of(MemoryRecorder& recorder, uint64_t attempt) {
  std::vector<RejectionRow> found;
  for (const RejectionRow& row : recorder.rows<RejectionRow>("/events/rejections")) {
    if (row.attempt == attempt) found.push_back(row);
  }
  return found;
}

std::string text_of(const RejectionRow& row) {
  std::string text{row.plugin.view()};
  text += ": " + std::to_string(row.nodes) + " ";
  text += row.reason.view();
  text += row.which.view().empty() ? "" : " on ";
  text += row.which.view();
  text += row.is_noted ? ", noted" : "";
  return text + (row.is_unresolvable ? ", for good" : "");
}

std::vector<std::string> texts_of(const std::vector<RejectionRow>& rows) {
  std::vector<std::string> texts;
  std::ranges::transform(rows, std::back_inserter(texts), text_of);
  return texts;
}

const std::string kThreePools = R"(
cluster:
  machines:
  - {name: box, base: hgx-h100, gpus: 4}
  - {name: small, base: hgx-h100, gpus: 1}
  pools:
  - {name: ours, machine: box, count: 2}
  - {name: theirs, machine: box, count: 3, taints: [{key: team, value: red, effect: NoSchedule}]}
  - {name: little, machine: small, count: 1}
)";

TEST(AttemptLog, CountsTheNodesThatEachFilterTookAway) {
  ScenarioRun run{kThreePools + R"(
workload:
  sources:
  - kind: jobs
    jobs:
    - {name: first, pods: 2, pod: {gpus: 4}, work: 10min}
    - {name: second, submit: 1s, pods: 1, pod: {gpus: 2}, work: 10min}
record: {attempts: true}
)"};
  const auto attempts = run.recorder.rows<AttemptRow>("/events/attempts");
  const auto failed =
      std::ranges::find(attempts, AttemptOutcome::Unschedulable, &AttemptRow::outcome);
  ASSERT_NE(failed, attempts.end());
  EXPECT_EQ(failed->job, 1U);
  EXPECT_EQ(failed->message.view(),
            "0/6 nodes are available: 3 Insufficient nvidia.com/gpu, 3 node(s) had untolerated "
            "taint(s).");
  EXPECT_THAT(texts_of(rejections_of(run.recorder, failed->attempt)),
              ElementsAre("TaintToleration: 3 node(s) had untolerated taint(s) on 2-4, "
                          "for good",
                          "NodeResourcesFit: 1 Insufficient nvidia.com/gpu on 5, for good",
                          "NodeResourcesFit: 2 Insufficient nvidia.com/gpu on 0-1"));
}

TEST(AttemptLog, TellsForHowManyOfAGangThereWasRoom) {
  ScenarioRun run{kThreePools + R"(
workload:
  sources:
  - kind: jobs
    jobs:
    - {name: first, pods: 1, pod: {gpus: 4}, work: 10min}
    - {name: gang, submit: 1s, pods: 3, pod: {gpus: 2}, work: 10min}
policy: {base: strict_gang}
record: {attempts: true}
)"};
  const auto attempts = run.recorder.rows<AttemptRow>("/events/attempts");
  const auto failed =
      std::ranges::find(attempts, AttemptOutcome::Unschedulable, &AttemptRow::outcome);
  ASSERT_NE(failed, attempts.end());
  EXPECT_EQ(failed->pods, 3);
  EXPECT_EQ(failed->placeable, 2) << "on the node that the first job left free";
  const auto logged = texts_of(rejections_of(run.recorder, failed->attempt));
  EXPECT_THAT(logged, testing::Contains("NodeResourcesFit: 1 Insufficient nvidia.com/gpu on 0"));
  for (const AttemptRow& row : attempts) {
    if (row.outcome == AttemptOutcome::Scheduled) {
      EXPECT_THAT(rejections_of(run.recorder, row.attempt), IsEmpty());
    }
  }
}

TEST(AttemptLog, ManyScatteredNodesAreReportedWithSomeBetweenThem) {
  std::vector<int32_t> gpus;
  for (int i = 0; i < 700; ++i) gpus.push_back(i % 3 == 0 ? 1 : 8);
  gpus[9] = gpus[10] = 8;
  gpus[11] = 8;
  SchedulerWorld world{gpus, without_cost(profile_of(ProfileBase::Default))};
  world.add({make_job(JobKind::Pods, 1, 2, 1_h), make_job(JobKind::Pods, 1, 9, 1_h)});
  world.run(Time{} + 1_s);
  const auto attempts = world.attempts();
  const auto failed =
      std::ranges::find(attempts, AttemptOutcome::Unschedulable, &AttemptRow::outcome);
  ASSERT_NE(failed, attempts.end());
  const auto logged = rejections_of(world.recorder, failed->attempt);
  ASSERT_EQ(logged.size(), 1U);
  EXPECT_EQ(logged[0].nodes, 700U) << "the node of the other job, too: none has nine";
  EXPECT_EQ(logged[0].which.view(), "0-699");
}

TEST(AttemptLog, RangesAreJoinedAcrossTheNarrowestGaps) {
  std::vector<int32_t> gpus(700, 8);
  for (size_t i = 0; i < 700; i += 4) gpus[i] = 1;
  gpus[100] = gpus[200] = 8;
  SchedulerWorld world{gpus, without_cost(profile_of(ProfileBase::StrictGang))};
  world.add({make_job(JobKind::MpiGang, 600, 8, 1_h)});
  world.run(Time{} + 1_s);
  const auto logged = rejections_of(world.recorder, 1);
  const auto fit = std::ranges::find_if(
      logged, [](const RejectionRow& row) { return row.plugin.view() == "NodeResourcesFit"; });
  ASSERT_NE(fit, logged.end());
  EXPECT_EQ(fit->nodes, 173U);
  const std::string_view which = fit->which.view();
  EXPECT_LE(which.size(), kWhichMax);
  EXPECT_TRUE(which.starts_with("0")) << which;
  EXPECT_TRUE(which.ends_with("696")) << which;
  EXPECT_NE(which.find("96,104"), std::string_view::npos) << which;
  EXPECT_NE(which.find("196,204"), std::string_view::npos) << which;
}

TEST(AttemptLog, HasNoTablesUnlessAskedFor) {
  ScenarioRun run{kThreePools + R"(
workload: {sources: [{kind: jobs, jobs: [{name: a, pods: 1, pod: {gpus: 4}, work: 10min}]}]}
policy: {job_queue: {policies: [{name: EASY}]}}
)"};
  for (const auto& table : run.recorder.tables()) {
    EXPECT_NE(table.path, "/events/attempts");
    EXPECT_NE(table.path, "/events/rejections");
    EXPECT_NE(table.path, "/events/job_queue");
  }
}

std::string text_of(const QueueRow& row) {
  std::string text = std::to_string(row.at.ns / 1'000'000'000);
  text += " " + std::to_string(row.job) + " ";
  text += enum_names(row.decision)[static_cast<size_t>(row.decision)];
  text += " ";
  text += row.policy.view();
  text += " " + std::to_string(row.asked) + "/" + std::to_string(row.free);
  if (row.head >= 0) text += " behind " + std::to_string(row.head);
  const auto when = [](Time at) { return std::to_string(at.ns / 1'000'000'000); };
  if (row.reserved >= Time{}) text += " at " + when(row.reserved);
  if (row.head_reserved >= Time{}) text += " head at " + when(row.head_reserved);
  return text;
}

std::vector<std::string> queue_texts(const std::string& plan) {
  ScenarioRun run{R"(
cluster:
  machines: [{name: box, base: hgx-h100, gpus: 4}]
  pools: [{name: n, machine: box, count: 2}]
workload:
  sources:
  - kind: jobs
    jobs:
    - {name: first, team: a, pods: 2, pod: {gpus: 3}, work: 10min, requested: 10min}
    - {name: head, team: b, submit: 1s, pods: 2, pod: {gpus: 4}, work: 10min, requested: 10min}
    - {name: long, team: b, submit: 3s, pods: 1, pod: {gpus: 1}, work: 20min, requested: 20min}
    - {name: more, team: a, submit: 4s, pods: 1, pod: {gpus: 2}, work: 1min, requested: 1min}
    - {name: huge, team: b, submit: 5s, pods: 3, pod: {gpus: 4}, work: 1min, requested: 1min}
record: {attempts: true}
policy:
  driver: counting
  job_queue: {policies: )" +
                  plan + "}\n"};
  std::vector<std::string> texts;
  for (const QueueRow& row : run.recorder.rows<QueueRow>("/events/job_queue")) {
    texts.push_back(text_of(row));
  }
  return texts;
}

TEST(JobQueueLog, TellsWhyEachJobWaits) {
  EXPECT_THAT(queue_texts("[{name: EASY}, {name: Quota, args: {limits: {a: 7}}}]"),
              ElementsAre("0 0 started EASY 6/8",  //
                          "1 1 lacks_room EASY 8/2 behind 1 at 600 head at 600",
                          "3 2 passed_over EASY 1/2 behind 1 head at 600",  //
                          "4 3 held Quota 2/2",                             //
                          "5 4 infeasible  12/2",                           //
                          "600 1 started EASY 8/8",                         //
                          "600 2 lacks_room EASY 1/0 behind 2 at 1200 head at 1200",
                          "600 3 lacks_room EASY 2/0 behind 2 head at 1200",
                          "1200 2 started EASY 1/8", "1200 3 started EASY 2/7"));
}

TEST(JobQueueLog, TellsTheReservationsOfEveryJobThatHasOne) {
  EXPECT_THAT(queue_texts("[{name: Conservative}]"),
              testing::Contains("3 2 passed_over Conservative 1/2 behind 1 at 1200 head at 600"));
  // A planner pass runs every 30 s. It rounds the time left of a running job up to whole minutes.
  // Job `first` ends at 600 s. The pass at 1 s expects the job to end at 601 s, and the pass at
  // 31 s expects it to end at 631 s.
  EXPECT_THAT(
      queue_texts("[{name: SlurmBackfill}]"),
      testing::IsSupersetOf({"3 2 passed_over SlurmBackfill 1/2 behind 1 head at 601",
                             "31 2 lacks_room SlurmBackfill 1/0 behind 1 at 1231 head at 631"}));
}

}  // namespace
}  // namespace orrery
