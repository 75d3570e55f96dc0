// FailedScheduling Events in whole runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "models/control_plane/control_plane_rows.hpp"
#include "models/scheduling/cycle/scheduler_rows.hpp"
#include "tests/support/scheduler_world.hpp"

namespace orrery::failed_scheduling_run_test {
namespace {

int64_t summary(const SimulationResult& result, std::string_view name) {
  const auto found = std::ranges::find(result.summary, name, &SummaryValue::name);
  EXPECT_NE(found, result.summary.end()) << name;
  return std::get<int64_t>(found->value);
}

// One job holds the only node for three hours, and other jobs wait.
std::string full_node(const std::string& events, const std::string& waiting,
                      const std::string& policy = "default") {
  return "cluster: {pools: [{name: n, machine: dgx-a100, count: 1}]}\n"
         "control_plane: {level: full, events: {" +
         events +
         "}}\nworkload:\n  sources: [{kind: jobs, jobs: [{pods: 1, pod: {gpus: 8}, work: 3h}, " +
         waiting + "]}]\npolicy: {base: " + policy +
         "}\nrecord: {attempts: true}\nrun: {until: 2h}\n";
}

// The number of failed attempts. An attempt of a gang counts once for each of its pods.
int64_t failures(ScenarioRun& run) {
  int64_t pods = 0;
  for (const AttemptRow& row : run.recorder.rows<AttemptRow>("/events/attempts")) {
    const bool failed =
        row.outcome == AttemptOutcome::Unschedulable || row.outcome == AttemptOutcome::Rejected;
    pods += failed ? row.pods : 0;
  }
  return pods;
}

TEST(FailedSchedulingInRuns, APodThatFailsAgainAndAgainHasOneEventWhichBecomesASeries) {
  ScenarioRun run{
      full_node("per_pod: 0", "{submit: 1min, kind: pods, pods: 1, pod: {gpus: 8}, work: 1min}")};
  EXPECT_GE(failures(run), 20) << "one every 5 min at least";
  EXPECT_EQ(summary(run.result, "failed_scheduling"), failures(run));
  EXPECT_EQ(summary(run.result, "events_written"), 1);
  EXPECT_EQ(summary(run.result, "event_series_patches"), 1 + 3) << "and at 30, 60 and 90 min";
  EXPECT_EQ(run.recorder.rows<EtcdSample>("/timeline/etcd").back().events, Bytes{1'000});
}

TEST(FailedSchedulingInRuns, EachPodHasAnEventOfItsOwnThatServersAndEtcdPayFor) {
  const std::string waiting = "{submit: 1min, kind: pods, pods: 300, pod: {gpus: 8}, work: 1min}";
  ScenarioRun none{
      full_node("per_pod: 0, per_failed_bind: 0, others_per_s: 1e-6", waiting), {}, {}};
  ScenarioRun one{full_node("per_pod: 0", waiting), {}, {}};
  ScenarioRun three{full_node("per_pod: 0, per_failed_bind: 3", waiting), {}, {}};
  EXPECT_EQ(summary(none.result, "events_written"), 0);
  EXPECT_EQ(summary(one.result, "events_written"), 300);
  EXPECT_EQ(summary(three.result, "events_written"), 3 * 300);
  const auto requests = [](ScenarioRun& run, std::string_view level) {
    double sum = 0;
    for (const auto& row : run.recorder.rows<ControlPlaneSample>("/timeline/control_plane")) {
      const bool writes = row.verb == Verb::Create || row.verb == Verb::Patch;
      if (writes && row.level.view() == level) sum += row.done * 60;
    }
    return sum;
  };
  const int64_t asked =
      summary(one.result, "events_written") + summary(one.result, "event_series_patches");
  EXPECT_NEAR(requests(one, "workload-high") - requests(none, "workload-high"),
              static_cast<double>(asked), 0.5);
  EXPECT_EQ(one.recorder.rows<EtcdSample>("/timeline/etcd").back().events, Bytes{300'000});
  EXPECT_EQ(three.recorder.rows<EtcdSample>("/timeline/etcd").back().events, Bytes{900'000});
}

TEST(FailedSchedulingInRuns, EachMemberOfAGangThatFindsNoRoomHasAnEvent) {
  ScenarioRun run{full_node("per_pod: 0", "{submit: 1min, pods: 5, pod: {gpus: 8}, work: 1min}",
                            "strict_gang")};
  EXPECT_GE(failures(run), 5);
  EXPECT_EQ(summary(run.result, "events_written"), 5);
  EXPECT_EQ(summary(run.result, "failed_scheduling"), failures(run));
}

// The API server puts the scheduler's requests into one flow per namespace, and each team has a
// namespace. 500 Events about pods of team a arrive in a few seconds, and each seat writes 10 a
// second. A pod of team b is bound within 2 s.
TEST(FailedSchedulingInRuns, AFloodOfEventsAboutOneTeamHoldsUpNoBindingOfAnother) {
  const std::string yaml =
      "cluster: {pools: [{name: n, machine: dgx-a100, count: 1}]}\n"
      "control_plane:\n  level: full\n"
      "  events: {per_pod: 0, per_failed_bind: 5, client: {qps: 1e6, burst: 1000000}}\n"
      "  api_servers: {servers: 1, server: {cost: {write: 100ms}}, "
      "flow_control: {max_requests_inflight: 10, max_mutating_requests_inflight: 10}}\n"
      "workload:\n  sources: [{kind: jobs, jobs: [\n"
      "    {name: many, team: a, kind: pods, pods: 100, pod: {gpus: 9}, work: 1min},\n"
      "    {name: own, team: a, submit: 3s, kind: pods, pods: 1, pod: {gpus: 1}, work: 1min},\n"
      "    {name: other, team: b, submit: 3s, kind: pods, pods: 1, pod: {gpus: 1}, work: "
      "1min}]}]\n"
      "policy: {base: default}\nrun: {until: 10min}\n";
  ScenarioRun run{yaml};
  Duration own, other;
  for (const JobRow& row : run.jobs()) {
    if (row.name.view() == "own") own = row.wait;
    if (row.name.view() == "other") other = row.wait;
  }
  EXPECT_GT(other, 1_s);
  EXPECT_LT(other, 2_s);
  EXPECT_GT(own, other * 4);
}

}  // namespace
}  // namespace orrery::failed_scheduling_run_test
