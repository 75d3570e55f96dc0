#include "models/workload/lifecycle/runs/training_runs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/lives_world.hpp"

namespace orrery {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Each pod has 8 GPUs. The pod of rank r is bound to node r. A gang computes as soon as its
// checkpoint is loaded.
struct TrainingRunsWorld : LivesWorld {
  explicit TrainingRunsWorld(const JobControllerParams& rules = {})
      : LivesWorld{{.params = rules}} {
    runs.loaded.connect([this](JobId job) { begin(job); });
    runs.stopped.connect([this](JobId, const RunStop& end) { stops.push_back(logged(end)); });
    runs.pod_stopped.connect([this](PodId, const RunStop& end) { stops.push_back(logged(end)); });
  }
  JobId bound(const JobSpec& spec) {
    const JobId job = admit(spec);
    create(job);
    for (int32_t rank = 0; rank < jobs.job(job).pods; ++rank) {
      const auto index = static_cast<uint32_t>(rank);
      bind(pod(job, index), {index});
      jobs.pod(pod(job, index)).takes_part = spec.kind == JobKind::MpiGang;
    }
    return job;
  }
  JobId started(const JobSpec& spec) {
    const JobId job = bound(spec);
    runs.restore(job, engine.now());
    return job;
  }
  void begin(JobId job) {
    int64_t gpu_milli = 0;
    JobTable::for_each_pod(jobs.job(job).first_pod, jobs.job(job).pods, [&](PodId id) {
      if (!jobs.pod(id).takes_part) return;
      pods.runs(id);
      gpu_milli += accounts.gpu_milli(id);
    });
    runs.begin(job, gpu_milli);
    phases.set(job, JobPhase::Running);
  }
  // The job fails and stops. Its pods stay on their nodes.
  void fail(JobId job) {
    runs.lose(job);
    runs.stop(job);
    JobTable::for_each_pod(jobs.job(job).first_pod, jobs.job(job).pods,
                           [&](PodId id) { pods.stops(id); });
    phases.set(job, JobPhase::Pending);
  }
  const GpuTime& time(JobId job) const { return accounts.of(job).gpu_time; }
  std::string logged(const RunStop& end) const {
    const std::string when = std::to_string(engine.now().ns / 1'000'000'000) + "s ";
    const std::string cause{name_of(end.ending.cause)};
    return when + (end.is_done() ? "done" : end.is_final ? cause + " for good" : cause);
  }

  std::vector<std::string> stops;  // stops of the run, such as "40s error for good"
};

TEST(TrainingRuns, AGangStopsOnceItsWorkIsDone) {
  TrainingRunsWorld world;
  const JobId job = world.started(make_job(JobKind::MpiGang, 2, 8, 100_s));
  world.go_to(60_s);
  EXPECT_EQ(world.runs.now(job).progress.done(), 60_s);
  world.engine.run();
  EXPECT_THAT(world.stops, ElementsAre("100s done"));
  world.runs.keep(job);
  EXPECT_DOUBLE_EQ(GpuTime::seconds(world.time(job).useful), 16 * 100.0);
}

TEST(TrainingRuns, APaceHoldsFromWhenItIsSet) {
  TrainingRunsWorld world;
  const JobId job = world.started(make_job(JobKind::MpiGang, 2, 8, 100_s));
  world.go_to(40_s);
  world.runs.set_pace(job, Pace::of_millionths(500'000));
  world.go_to(80_s);  // 40 s + 40 s / 2 = 60 s are done
  EXPECT_EQ(world.runs.now(job).progress.done(), 60_s);
  world.runs.set_pace(job, {.work = 0, .computing = 0});
  world.go_to(200_s);
  EXPECT_THAT(world.stops, IsEmpty());
  world.runs.set_pace(job, {});
  world.engine.run();
  EXPECT_THAT(world.stops, ElementsAre("240s done"));
}

TEST(TrainingRuns, AFailureUndoesWhatWasDoneSinceTheLastCheckpoint) {
  TrainingRunsWorld world;
  JobSpec spec = make_job(JobKind::MpiGang, 2, 8, 100_s);
  spec.checkpoint_interval = 10_s;
  spec.checkpoint_write = 2_s;
  spec.restore = 7_s;
  const JobId job = world.started(spec);
  world.go_to(30_s);  // checkpoints are written from 10 to 12 s and from 22 to 24 s
  world.fail(job);
  EXPECT_DOUBLE_EQ(GpuTime::seconds(world.time(job).useful), 16 * 20.0);
  EXPECT_DOUBLE_EQ(GpuTime::seconds(world.time(job).lost), 16 * 6.0);
  EXPECT_DOUBLE_EQ(GpuTime::seconds(world.time(job).checkpoint), 16 * 4.0);
  world.runs.restore(job, Time{} + 33_s);
  world.engine.run();
  // The job has restored its checkpoint at 40 s. 80 s of work are left, with a checkpoint of 2 s
  // after each 10 s but the last: 80 + 7 * 2.
  EXPECT_THAT(world.stops, ElementsAre("134s done"));
}

TEST(TrainingRuns, ARecordedEndComesOnceForGood) {
  TrainingRunsWorld world;
  JobSpec spec = make_job(JobKind::MpiGang, 2, 8, 100_s);
  spec.ending = Ending{.after = 40_s, .exit_code = 1, .cause = EndCause::OutOfMemory};
  world.started(spec);
  world.engine.run();
  EXPECT_THAT(world.stops, ElementsAre("40s out_of_memory for good"));
}

TEST(TrainingRuns, ADrawnEndIsDrawnAtEachStart) {
  TrainingRunsWorld world;
  JobSpec spec = make_job(JobKind::MpiGang, 2, 8, 100_s);
  spec.checkpoint_interval = 20_s;
  spec.gangs[0].roles[0].endings = {{.chance = 1, .after = FixedDuration{30_s}}};
  const JobId job = world.started(spec);
  world.go_to(30_s);
  world.fail(job);  // the job has saved 20 s
  world.runs.restore(job, Time{} + 50_s);
  world.go_to(80_s);
  EXPECT_THAT(world.stops, ElementsAre("30s error", "80s error"));
}

TEST(TrainingRuns, WorkThatIsDoneBeforeADrawnEndIsDone) {
  TrainingRunsWorld world;
  JobSpec spec = make_job(JobKind::MpiGang, 2, 8, 25_s);
  spec.gangs[0].roles[0].endings = {{.chance = 1, .after = FixedDuration{30_s}}};
  world.started(spec);
  world.engine.run();
  EXPECT_THAT(world.stops, ElementsAre("25s done"));
}

TEST(TrainingRuns, AJobThatOverrunsItsRequestIsStopped) {
  for (const Overruns overruns : {Overruns::Keep, Overruns::Kill}) {
    TrainingRunsWorld world{{.overruns = overruns}};
    JobSpec spec = make_job(JobKind::MpiGang, 2, 8, 100_s);
    spec.requested = 60_s;
    world.started(spec);
    world.engine.run();
    const bool is_killed = overruns == Overruns::Kill;
    EXPECT_THAT(world.stops, ElementsAre(is_killed ? "60s time_limit for good" : "100s done"));
  }
}

TEST(TrainingRuns, AnElasticGangWithFewerMembersNeedsLongerInProportion) {
  TrainingRunsWorld world;
  JobSpec spec = make_job(JobKind::MpiGang, 4, 8, 90_s);
  spec.gangs[0].min_available = 1;
  const JobId job = world.bound(spec);
  world.jobs.pod(world.pod(job, 3)).takes_part = false;
  world.runs.restore(job, Time{});
  world.engine.run();
  EXPECT_THAT(world.stops, ElementsAre("120s done"));  // 90 s * 4 / 3 with three of four members
}

TEST(TrainingRuns, WhatAnElasticGangSavedIsTheSamePartOfItsWorkWithOtherMembers) {
  TrainingRunsWorld world;
  JobSpec spec = make_job(JobKind::MpiGang, 4, 8, 100_s);
  spec.gangs[0].min_available = 1;
  spec.checkpoint_interval = 50_s;
  const JobId job = world.bound(spec);
  for (uint32_t rank = 2; rank < 4; ++rank) world.jobs.pod({rank}).takes_part = false;
  world.runs.restore(job, Time{});
  world.go_to(120_s);  // two of four members need 200 s, and have saved 100 s, a half
  world.fail(job);
  for (uint32_t rank = 2; rank < 4; ++rank) world.jobs.pod({rank}).takes_part = true;
  world.runs.restore(job, world.engine.now());
  EXPECT_EQ(world.runs.of(job).progress.saved, 50_s);
  world.engine.run();
  EXPECT_THAT(world.stops, ElementsAre("170s done"));
}

TEST(TrainingRuns, IndependentPodsComputeEachOnItsOwn) {
  TrainingRunsWorld world;
  const JobId job = world.bound(make_job(JobKind::Pods, 2, 8, 100_s));
  for (const PodId pod : {world.pod(job, 0), world.pod(job, 1)}) {
    world.pods.runs(pod);
    world.runs.begin(pod);
    world.go_to(30_s);
  }
  world.go_to(50_s);
  const PodId first = world.pod(job, 0), second = world.pod(job, 1);
  world.runs.lose(second);
  EXPECT_DOUBLE_EQ(GpuTime::seconds(world.time(job).lost), 8 * 20.0);
  world.go_to(100_s);
  EXPECT_THAT(world.stops, ElementsAre("100s done"));
  world.runs.keep(first);
  EXPECT_DOUBLE_EQ(GpuTime::seconds(world.time(job).useful), 8 * 100.0);
}

TEST(TrainingRuns, APodOfARoleThatDoesNotExitNeverStops) {
  TrainingRunsWorld world;
  JobSpec spec = make_job(JobKind::Pods, 1, 8, 100_s);
  spec.gangs[0].roles[0].exits = false;
  const JobId job = world.bound(spec);
  world.pods.runs(world.pod(job));
  world.runs.begin(world.pod(job));
  world.engine.run();
  EXPECT_THAT(world.stops, IsEmpty());
}

}  // namespace
}  // namespace orrery
