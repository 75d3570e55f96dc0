#include "models/workload/lifecycle/state/job_accounts.hpp"

#include <gtest/gtest.h>

#include "sim/engine/engine.hpp"
#include "tests/support/alike.hpp"

namespace orrery {
namespace {

// One job with pods of 8 GPUs. The test moves the pods through their states.
struct JobAccountsWorld {
  explicit JobAccountsWorld(JobKind kind = JobKind::MpiGang)
      : job{jobs.add(make_job(kind, 2, 8, 100_s))} {
    accounts.admitted(job);
  }
  void bind(uint32_t rank) {
    Pod& pod = jobs.pod({rank});
    pod.state = PodState::Bound;
    pod.node = {rank};
    pod.bound = engine.now();
    accounts.bound({rank});
  }
  void reserve(uint32_t rank) {
    jobs.pod({rank}).state = PodState::Pending;
    accounts.reserved({rank});
  }
  void book_at(Duration when) {
    engine.advance_to(Time{} + when);
    for (uint32_t rank = 0; rank < 2; ++rank) accounts.book_held({rank}, engine.now());
  }
  const GpuTime& time() const { return accounts.of(job).gpu_time; }
  JobRow row() {
    accounts.write_job_row(job, engine.now());
    recorder.flush_all();
    return recorder.rows<JobRow>("/jobs").back();
  }

  Engine engine;
  RngStreams rng{1};
  MemoryRecorder recorder;
  JobTable jobs;
  JobAccounts accounts{{engine, rng, recorder}, jobs, true};
  JobId job;
};

TEST(JobAccounts, APodThatWaitsForItsStartHoldsItsGpus) {
  JobAccountsWorld world;
  world.bind(0);
  EXPECT_EQ(world.accounts.of(world.job).bound_gpu_milli, 8000);
  world.book_at(10_s);
  EXPECT_DOUBLE_EQ(GpuTime::seconds(world.time().held), 8 * 10.0);
  world.book_at(10_s);  // books nothing: no time has passed
  world.book_at(15_s);
  EXPECT_DOUBLE_EQ(GpuTime::seconds(world.time().held), 8 * 15.0);
}

TEST(JobAccounts, AReservationIsHeldUntilItIsGivenBackOrBound) {
  JobAccountsWorld world;
  world.reserve(0);
  world.reserve(1);
  world.engine.advance_to(Time{} + 5_s);
  world.accounts.unreserved({0});
  world.engine.advance_to(Time{} + 8_s);
  world.bind(0);
  world.bind(1);
  world.book_at(10_s);
  // Pod 0 holds its GPUs from 0 to 5 s and from 8 to 10 s, pod 1 all the time.
  EXPECT_DOUBLE_EQ(GpuTime::seconds(world.time().held), 8 * (5.0 + 2.0) + 8 * 10.0);
}

TEST(JobAccounts, AGangRestoresFromWhenItLoadsItsCheckpoint) {
  JobAccountsWorld world;
  world.bind(0);
  world.bind(1);
  world.jobs.pod({0}).takes_part = true;  // pod 1 came late and is no member of the run
  world.accounts.of(world.job).loads_from = Time{} + 6_s;
  world.book_at(10_s);
  EXPECT_DOUBLE_EQ(GpuTime::seconds(world.time().held), 8 * 6.0 + 8 * 10.0);
  EXPECT_DOUBLE_EQ(GpuTime::seconds(world.time().restore), 8 * 4.0);
}

TEST(JobAccounts, AnIndependentPodRestoresFromWhenItLoadsItsOwn) {
  JobAccountsWorld world{JobKind::Pods};
  world.bind(0);
  world.bind(1);
  world.accounts.loads_from({1}, Time{} + 7_s);
  world.book_at(10_s);
  EXPECT_DOUBLE_EQ(GpuTime::seconds(world.time().held), 8 * 10.0 + 8 * 7.0);
  EXPECT_DOUBLE_EQ(GpuTime::seconds(world.time().restore), 8 * 3.0);
}

TEST(JobAccounts, GpusOfAHungJobAreHungWhetherTheirPodsRanOrNot) {
  JobAccountsWorld world;
  world.bind(0);
  world.bind(1);
  world.jobs.pod({0}).state = PodState::Running;
  world.book_at(10_s);  // books pod 1 only: pod 0 runs, and TrainingRuns books it
  EXPECT_DOUBLE_EQ(GpuTime::seconds(world.time().held), 8 * 10.0);
  world.jobs.job(world.job).phase = JobPhase::Hung;
  world.book_at(25_s);
  EXPECT_DOUBLE_EQ(GpuTime::seconds(world.time().hung), 16 * 15.0);
}

TEST(JobAccounts, OnlyTheRowOfAJobThatIsOverSaysWhyAndWhenItEnded) {
  JobAccountsWorld world;
  JobAccount& account = world.accounts.of(world.job);
  account.cause = EndCause::NodeFailed;  // cause of the last failure
  account.exit_code = kKilled;
  account.first_running = Time{} + 3_s;
  world.engine.advance_to(Time{} + 20_s);
  world.jobs.job(world.job).phase = JobPhase::Running;
  const JobRow cut = world.row();
  EXPECT_EQ(cut.outcome, JobOutcome::Running);
  EXPECT_EQ(cut.cause, EndCause::None);
  EXPECT_EQ(cut.exit_code, kNoExitCode);
  EXPECT_EQ(cut.ended, kNever);
  EXPECT_EQ(cut.wait, 3_s);
  EXPECT_EQ(cut.run, 17_s);
  world.jobs.job(world.job).phase = JobPhase::Failed;
  account.ended = world.engine.now();
  world.engine.advance_to(Time{} + 50_s);  // the pods ran on until now, after the job's end
  const JobRow over = world.row();
  EXPECT_EQ(over.cause, EndCause::NodeFailed);
  EXPECT_EQ(over.exit_code, kKilled);
  EXPECT_EQ(over.ended, Time{} + 20_s);
}

}  // namespace
}  // namespace orrery
