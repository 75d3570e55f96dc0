#include "models/workload/lifecycle/counted_jobs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "sim/core/check.hpp"
#include "tests/support/lives_world.hpp"

namespace orrery {
namespace {

using ::testing::ElementsAre;

// Has one counted job (JobTable::add_counted). The job needs 16 GPUs, and its setup takes 4 s.
struct CountedJobsWorld : LivesWorld {
  explicit CountedJobsWorld(JobSpec spec = work(100_s)) : LivesWorld{Options{}} {
    watch(counted.over);
    news.counted_holds.connect([this](JobId, int64_t gpu_milli) { holds.push_back(gpu_milli); });
    spec.init = 4_s;
    job = admit_counted(spec);
    counted.admitted(job);
  }
  static JobSpec work(Duration work) { return make_job(JobKind::MpiGang, 2, 8, work); }
  void run(Pace pace = {}) { counted.run(job, {}, pace); }
  const GpuTime& time() const { return accounts.of(job).gpu_time; }

  CountedJobs counted{engine, jobs, accounts, phases, runs, news};
  JobId job;
  std::vector<int64_t> holds;
};

TEST(CountedJobs, AJobTakesItsGpusForItsStartAndItsWork) {
  CountedJobsWorld world;
  world.go_to(10_s);
  world.run();
  world.engine.run();
  EXPECT_THAT(world.moves, ElementsAre("10s pending->starting", "14s starting->running"));
  EXPECT_THAT(world.ends, ElementsAre("114s completed none"));
  world.counted.end(world.job);
  EXPECT_THAT(world.holds, ElementsAre(16'000, 0));
  EXPECT_DOUBLE_EQ(GpuTime::seconds(world.time().held), 16 * 4.0);
  EXPECT_DOUBLE_EQ(GpuTime::seconds(world.time().useful), 16 * 100.0);
}

TEST(CountedJobs, OnlyAWaitingJobStarts) {
  CountedJobsWorld world;
  world.run();
  EXPECT_THROW(world.run(), CheckFailed);
}

TEST(CountedJobs, AShareOfItsGpusIsAllThatItHoldsFromThenOn) {
  CountedJobsWorld world;
  world.run();
  world.go_to(54_s);  // 50 s of work are done
  world.counted.set_pace(world.job, Pace::of_millionths(500'000, 500));
  world.engine.run();
  EXPECT_THAT(world.ends, ElementsAre("154s completed none"));
  EXPECT_THAT(world.holds, ElementsAre(16'000, 8'000));
  EXPECT_DOUBLE_EQ(GpuTime::seconds(world.time().useful), 16 * 50.0 + 8 * 100.0);
}

TEST(CountedJobs, AShareThatChangesDuringTheStartIsBookedSo) {
  CountedJobsWorld world;
  world.run(Pace::of_millionths(500'000, 500));
  world.go_to(3_s);
  world.counted.set_pace(world.job, {});
  world.engine.run();
  EXPECT_THAT(world.ends, ElementsAre("104s completed none"));
  EXPECT_DOUBLE_EQ(GpuTime::seconds(world.time().held), 8 * 3.0 + 16 * 1.0);
  EXPECT_DOUBLE_EQ(GpuTime::seconds(world.time().useful), 16 * 100.0);
}

TEST(CountedJobs, ASuspendedJobWritesThenGivesItsGpusBackAndGoesOnLater) {
  CountedJobsWorld world;
  world.run();
  world.go_to(54_s);
  EXPECT_TRUE(world.counted.suspend(world.job, 6_s, 10_s));
  world.go_to(59_s);
  EXPECT_THAT(world.holds, ElementsAre(16'000));
  world.go_to(60_s);
  EXPECT_THAT(world.holds, ElementsAre(16'000, 0));
  EXPECT_FALSE(world.counted.suspend(world.job, 6_s, 10_s));  // refused: the job waits already
  world.go_to(200_s);
  world.run();
  world.engine.run();
  // From 200 s on: 4 s of setup, 10 s to load the checkpoint, and the remaining 50 s of work.
  EXPECT_THAT(world.ends, ElementsAre("264s completed none"));
  EXPECT_DOUBLE_EQ(GpuTime::seconds(world.time().checkpoint), 16 * 6.0);
  EXPECT_DOUBLE_EQ(GpuTime::seconds(world.time().restore), 16 * 10.0);
  EXPECT_DOUBLE_EQ(GpuTime::seconds(world.time().useful), 16 * 100.0);
}

TEST(CountedJobs, ARecordedEndLosesWhatIsNotSaved) {
  JobSpec spec = CountedJobsWorld::work(100_s);
  spec.checkpoint_interval = 20_s;
  spec.ending = Ending{.after = 50_s, .exit_code = 1, .cause = EndCause::Error};
  CountedJobsWorld world{spec};
  world.run();
  world.engine.run();
  EXPECT_THAT(world.ends, ElementsAre("54s failed error"));
  EXPECT_DOUBLE_EQ(GpuTime::seconds(world.time().useful), 16 * 40.0);
  EXPECT_DOUBLE_EQ(GpuTime::seconds(world.time().lost), 16 * 10.0);
}

TEST(CountedJobs, TheEndOfTheRunBooksAStartThatItCutsOff) {
  CountedJobsWorld world;
  world.run();
  world.go_to(3_s);
  world.counted.finish(world.job);
  EXPECT_DOUBLE_EQ(GpuTime::seconds(world.time().held), 16 * 3.0);
}

}  // namespace
}  // namespace orrery
