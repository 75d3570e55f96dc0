#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <variant>

#include "sim/config/reader.hpp"
#include "tests/support/telemetry_world.hpp"

namespace orrery {
namespace {

FaultParams listed(std::vector<ListedFaultParams> list) {
  FaultParams params;
  params.list = std::move(list);
  return params;
}

JobSpec training(int32_t pods, int32_t gpus, Duration work) {
  JobSpec job = make_job(JobKind::MpiGang, pods, gpus, work);
  job.checkpoint_interval = 100_s;
  job.checkpoint_write = 25_s;  // 100 s of compute in every 125 s: a share of 0.8
  return job;
}

// Two nodes of 8 GPUs. The job holds 16 GPUs from 0 s and computes from 20 s. Its first checkpoint
// is written from 120 s to 145 s and saves 100 s of compute. Node 0 fails at 220 s: the compute
// from 145 s to 220 s is lost. The 8 GPUs of the other node spin until detection at 240 s. The
// restart takes 60 s, so pods start at 300 s and compute from 320 s. The remaining 250 s of compute
// and two checkpoints take 300 s.
TEST(GpuUsage, TellsTheFourWaysOfOneJobWithOneFailure) {
  JobControllerParams slow;
  slow.failure_detection = 20_s;
  slow.restart_delay = 60_s;
  TelemetryWorld world{{.nodes = 2, .params = slow},
                       listed({{.node = "n0", .at = 220_s, .repair = 10_s}}),
                       {.interval = 100_s, .teams_interval = Duration{}}};
  JobSpec job = training(2, 8, 350_s);
  job.init = 20_s;
  world.add({job});
  world.run_until(Time{} + 1000_s);
  EXPECT_DOUBLE_EQ(world.gpu_s(GpuRate::Up), 16 * 1000 - 8 * 10);
  EXPECT_DOUBLE_EQ(world.gpu_s(GpuRate::Allocated), 16 * 220 + 8 * 20 + 16 * 320);
  EXPECT_DOUBLE_EQ(world.gpu_s(GpuRate::Reported), 16 * 200 + 8 * 20 + 16 * 300);
  // The computing share of a run, to 6 decimals, assumes that no failure ends the run early. The
  // first run would write three checkpoints: 350 / (350 + 3 * 25). The second run writes two:
  // 250 / (250 + 2 * 25).
  const double first = 0.823529, then = 0.833333;
  EXPECT_DOUBLE_EQ(world.gpu_s(GpuRate::Computing), 16 * (first * 200 + then * 300));
  // An idle GPU draws 50 W, a computing GPU 400 W more, a spinning GPU 50 W more. In both runs,
  // GPUs spin whenever they do not compute. The GPUs of the hung job spin, too.
  const double above_idle = 16 * (50 * 500 + (400 - 50) * (first * 200 + then * 300)) + 8 * 20 * 50;
  EXPECT_DOUBLE_EQ(world.gpu_s(GpuRate::Power), above_idle + 50 * (16 * 1000 - 8 * 10));
  EXPECT_DOUBLE_EQ(world.gpu_s(GpuRate::Loaded), above_idle / 400);
  const JobRow row = world.job_rows().at(0);
  EXPECT_DOUBLE_EQ(row.gpu_s_useful, 16 * 350);
  const auto useful = world.rows_of<UsefulSample>("/timeline/useful");
  // The job ends at 620 s, so the rows at every 100 s stop at 700 s. The eighth row is written at
  // the end of the run.
  ASSERT_EQ(useful.size(), 8u);
  // The first run computes from 20 s on. Its only checkpoint ends at 145 s and saves 100 s of
  // compute. So from 20 s to 145 s the useful share is 100 / 125 = 0.8. Row 0 has 80 s of this
  // time, and row 1 has 45 s.
  EXPECT_DOUBLE_EQ(useful[0].gpus_useful, 16 * 0.8 * 0.8);
  EXPECT_DOUBLE_EQ(useful[1].gpus_useful, 16 * 0.8 * 0.45);
  EXPECT_DOUBLE_EQ(useful[2].gpus_useful, 0);
  // The second run does 250 s of compute in 300 s. It computes from 320 s on. Row 3 covers 300 s to
  // 400 s, so the run computes during 0.8 of row 3.
  EXPECT_NEAR(useful[3].gpus_useful, 16 * 250.0 / 300 * 0.8, 1e-8);
}

TEST(GpuUsage, IndependentPodsCountOneByOneAndInShares) {
  TelemetryWorld world{{.nodes = 1}, {}, {.interval = 10_s, .teams_interval = Duration{}}};
  JobSpec job = make_job(JobKind::Pods, 3, 1, 100_s);
  job.gangs[0].roles[0].spec.gpu_milli = 250;
  world.add({job});
  world.run_until(Time{} + 200_s);
  EXPECT_DOUBLE_EQ(world.gpu_s(GpuRate::Allocated), 3 * 0.25 * 100);
  EXPECT_DOUBLE_EQ(world.gpu_s(GpuRate::Computing), 3 * 0.25 * 100);
}

TEST(NodeUsage, RowsHaveFailuresDowntimeAndUse) {
  TelemetryWorld world{{.nodes = 2},
                       listed({{.node = "n1", .at = 50_s, .repair = 30_s},
                               {.node = "n1", .at = 90_s, .repair = 30_s}}),
                       {}};
  world.add({make_job(JobKind::Pods, 1, 4, 60_s)});
  world.run_until(Time{} + 100_s);
  const auto rows = world.rows_of<NodeRow>("/nodes");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].name.view(), "n0");
  EXPECT_EQ(rows[0].machine.view(), "box");
  EXPECT_EQ(rows[0].pool.view(), "main");
  EXPECT_EQ(rows[0].gpus, 8u);
  EXPECT_DOUBLE_EQ(rows[0].gpu_s_allocated, 4 * 60);
  EXPECT_EQ(rows[1].failures, 2u);
  EXPECT_EQ(rows[1].downtime, 40_s);  // the second failure lasts until the end of the run
}

TEST(TimelineParams, TheIntervalMayBeSetAlone) {
  EXPECT_EQ(TimelineParams{}.between_teams(), 1_h);
  EXPECT_EQ(TimelineParams{.interval = 10_min}.between_teams(), 1_h);
  EXPECT_EQ(TimelineParams{.interval = 25_min}.between_teams(), 75_min);
  EXPECT_EQ(TimelineParams{.interval = 2_h}.between_teams(), 2_h);
  EXPECT_EQ(TimelineParams{.interval = Duration::max()}.between_teams(), Duration::max());
  for (const char* const interval : {"10min", "25min", "2h", "7s"}) {
    Diagnostics diagnostics;
    const std::string text = "interval: " + std::string{interval};
    const config::Document document = config::load_text(text, "t.yaml", diagnostics);
    static_cast<void>(read_params<TimelineParams>(document.root, "", diagnostics));
    EXPECT_TRUE(diagnostics.ok()) << interval;
  }
}

TEST(Timeline, CountsAreOfTheInstantAndTheLastIntervalIsShorter) {
  TelemetryWorld world{{.nodes = 1}, {}, {.interval = 60_s, .teams_interval = 120_s}};
  JobSpec a = make_job(JobKind::Pods, 1, 8, 60_s), b = make_job(JobKind::Pods, 1, 6, 600_s);
  a.team = "red";
  b.team = "blue";
  world.add({a, b});
  world.run_until(Time{} + 150_s);
  const auto rows = world.rows_of<ClusterSample>("/timeline/cluster");
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].time, Time{} + 60_s);
  EXPECT_DOUBLE_EQ(rows[0].gpus_allocated, 8);
  EXPECT_EQ(rows[0].jobs_running, 1u);  // job a ends at this instant, job b begins
  EXPECT_EQ(rows[0].jobs_pending, 0u);
  EXPECT_EQ(rows[2].time, Time{} + 150_s);
  EXPECT_DOUBLE_EQ(rows[2].gpus_allocated, 6);
  EXPECT_DOUBLE_EQ(rows[2].gpu_power_watts, 8 * 50 + 6 * 400);
  EXPECT_DOUBLE_EQ(rows[2].gpus_power, 6);
  const auto teams = world.rows_of<TeamSample>("/timeline/teams");
  ASSERT_EQ(teams.size(), 2u);
  EXPECT_EQ(teams[1].team.view(), "blue");
  EXPECT_DOUBLE_EQ(teams[1].gpus_allocated, 6);
  EXPECT_EQ(teams[1].jobs_running, 1u);
  EXPECT_EQ(teams[0].jobs_running, 0u);
}

TEST(Timeline, SamplingKeepsNoRunAliveNorGoesBeyondItsEnd) {
  TelemetryWorld world{{.nodes = 1}, {}, {.interval = 60_s, .teams_interval = Duration{}}};
  world.add({make_job(JobKind::Pods, 1, 8, 100_s)});
  world.timeline.start(Time::max());
  world.run();
  EXPECT_EQ(world.engine.now(), Time{} + 120_s);
  TelemetryWorld bounded{{.nodes = 1}, {}, {.interval = 60_s, .teams_interval = Duration{}}};
  bounded.add({make_job(JobKind::Pods, 1, 8, 1000_s)});
  bounded.timeline.start(Time{} + 100_s);
  bounded.run();
  EXPECT_EQ(bounded.rows_of<ClusterSample>("/timeline/cluster").size(), 1u);
}

}  // namespace
}  // namespace orrery
