// TrainingRuns: checkpoints to a store or to local disks, and suspension.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "models/workload/training/checkpoint_params.hpp"
#include "tests/support/lives_world.hpp"

namespace orrery {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A gang of two pods of 8 GPUs on nodes 0 and 1. Each node writes 1 GB/s to the store, or 1 GB/s to
// its local disk. So the gang writes 2 GB in 1 s. It computes as soon as its checkpoint is loaded.
struct TrainingSavesWorld : LivesWorld {
  explicit TrainingSavesWorld(const JobSpec& spec) : LivesWorld{with_stores()}, job{admit(spec)} {
    runs.loaded.connect([this](JobId) { begin(); });
    runs.stopped.connect([this](JobId, const RunStop&) { stops.push_back(engine.now()); });
    create(job);
    for (uint32_t rank = 0; rank < 2; ++rank) bind_rank(rank, {rank});
    runs.restore(job, engine.now());
  }
  static Options with_stores() {
    Options options;
    options.storage.stores.push_back({"blob", {80'000'000'000}, {80'000'000'000}, {}});
    options.storage.node = {{8'000'000'000}, {8'000'000'000}};
    options.storage.local = LocalDiskParams{{8'000'000'000}, {8'000'000'000}};
    return options;
  }
  static JobSpec saving(CheckpointParams params) {
    JobSpec spec = make_job(JobKind::MpiGang, 2, 8, 100_s);
    spec.checkpoint_interval = 10_s;
    spec.checkpoint = std::make_shared<CheckpointParams>(params);
    return spec;
  }
  static JobSpec saving_locally() { return saving({.store = "local", .bytes = {2'000'000'000}}); }
  void bind_rank(uint32_t rank, NodeId node) {
    bind({rank}, node);
    jobs.pod({rank}).takes_part = true;
  }
  void begin() {
    for (uint32_t rank = 0; rank < 2; ++rank) pods.runs({rank});
    runs.begin(job, 16'000);
    phases.set(job, JobPhase::Running);
  }
  void stop_pods() {
    for (uint32_t rank = 0; rank < 2; ++rank) pods.stops({rank});
    phases.set(job, JobPhase::Pending);
  }
  // The node fails. Returns the GPU seconds of saved work that are lost with its disk.
  double fail_node(NodeId node) {
    runs.node_failed(node);
    runs.lose(job);
    const int128_t lost = runs.lose_local(job);
    runs.stop(job);
    stop_pods();
    return GpuTime::seconds(lost);
  }
  void suspend(Duration restart) {
    runs.suspend(job, restart);
    runs.suspended(job);
    stop_pods();
  }
  Duration saved() const { return runs.of(job).progress.saved; }

  JobId job;
  std::vector<Time> stops;
};

TEST(TrainingSaves, ASynchronousCheckpointStopsTheRunUntilItIsStored) {
  TrainingSavesWorld world{
      TrainingSavesWorld::saving({.store = "blob", .bytes = {6'000'000'000}})};  // 3 s at 2 GB/s
  world.go_to(11_s);
  EXPECT_TRUE(world.runs.is_paused(world.job));
  EXPECT_EQ(world.saved(), 0_s);
  world.go_to(14_s);
  EXPECT_FALSE(world.runs.is_paused(world.job));
  EXPECT_EQ(world.saved(), 10_s);
  world.engine.run();
  EXPECT_THAT(world.stops, ElementsAre(Time{} + 100_s + 3_s * 9));
}

TEST(TrainingSaves, AnAsynchronousCheckpointKeepsWhatWasDoneWhenItWasCopied) {
  TrainingSavesWorld world{
      TrainingSavesWorld::saving({.store = "blob",
                                  .bytes = {8'000'000'000},  // 4 s to write at 2 GB/s
                                  .mode = CheckpointMode::Async,
                                  // Each of 16 GPUs copies 0.5 GB at 0.5 GB/s.
                                  .host_copy = {4'000'000'000}})};
  world.go_to(13_s);
  EXPECT_FALSE(world.runs.is_paused(world.job));
  EXPECT_EQ(world.saved(), 0_s);
  world.go_to(16_s);
  EXPECT_EQ(world.saved(), 10_s);
  EXPECT_EQ(world.runs.now(world.job).progress.done(), 15_s);
}

TEST(TrainingSaves, AFailureDropsACheckpointThatIsBeingWritten) {
  TrainingSavesWorld world{TrainingSavesWorld::saving({.store = "blob", .bytes = {6'000'000'000}})};
  world.go_to(12_s);
  world.fail_node({0});
  world.go_to(20_s);
  EXPECT_EQ(world.saved(), 0_s);
  EXPECT_DOUBLE_EQ(GpuTime::seconds(world.accounts.of(world.job).gpu_time.lost), 16 * 10.0);
}

TEST(TrainingSaves, AGangThatIsSuspendedKeepsAllThatItComputed) {
  TrainingSavesWorld world{make_job(JobKind::MpiGang, 2, 8, 100_s)};
  world.go_to(40_s);
  world.runs.suspend(world.job, {});
  EXPECT_TRUE(world.runs.is_paused(world.job));
  world.go_to(45_s);
  world.runs.book(world.job);  // the gang has written for 5 s
  world.runs.suspended(world.job);
  world.stop_pods();
  EXPECT_EQ(world.runs.of(world.job).gpu_milli, 0);
  EXPECT_EQ(world.saved(), 40_s);
  const GpuTime& time = world.accounts.of(world.job).gpu_time;
  EXPECT_DOUBLE_EQ(GpuTime::seconds(time.useful), 16 * 40.0);
  EXPECT_DOUBLE_EQ(GpuTime::seconds(time.checkpoint), 16 * 5.0);
  world.runs.restore(world.job, Time{} + 100_s);
  world.engine.run();
  EXPECT_THAT(world.stops, ElementsAre(Time{} + 160_s));
}

TEST(TrainingSaves, ASuspensionLengthensOnlyTheNextRestore) {
  JobSpec spec = make_job(JobKind::MpiGang, 2, 8, 100_s);
  spec.restore = 2_s;
  TrainingSavesWorld world{spec};
  world.go_to(40_s);
  world.suspend(30_s);
  world.runs.restore(world.job, Time{} + 50_s);
  world.go_to(79_s);
  EXPECT_EQ(world.phases.of(world.job), JobPhase::Pending);
  world.go_to(80_s);
  EXPECT_EQ(world.phases.of(world.job), JobPhase::Running);
  world.go_to(90_s);
  world.fail_node({0});
  world.runs.restore(world.job, Time{} + 100_s);
  world.engine.run();
  EXPECT_THAT(world.stops, ElementsAre(Time{} + 102_s + 60_s));
}

TEST(TrainingSaves, ASuspensionLengthensARestoreFromAStore) {
  TrainingSavesWorld world{
      TrainingSavesWorld::saving({.store = "blob", .bytes = {2'000'000'000}})};  // 1 s at 2 GB/s
  world.go_to(15_s);
  world.suspend(30_s);
  world.runs.restore(world.job, Time{} + 20_s);
  world.go_to(49_s);
  EXPECT_EQ(world.phases.of(world.job), JobPhase::Pending);
  world.go_to(50_s);
  EXPECT_EQ(world.phases.of(world.job), JobPhase::Running);
}

TEST(TrainingSaves, LocalCheckpointsAreLostWithADiskOfTheGang) {
  TrainingSavesWorld world{TrainingSavesWorld::saving_locally()};
  world.go_to(16_s);  // a checkpoint was written from 10 to 11 s
  EXPECT_DOUBLE_EQ(world.fail_node({1}), 16 * 10.0);
  EXPECT_EQ(world.saved(), 0_s);
  EXPECT_DOUBLE_EQ(GpuTime::seconds(world.accounts.of(world.job).gpu_time.useful), 0);
  EXPECT_DOUBLE_EQ(GpuTime::seconds(world.accounts.of(world.job).gpu_time.lost), 16 * 15.0);
}

TEST(TrainingSaves, LocalCheckpointsStayBehindWhenTheGangMoves) {
  TrainingSavesWorld world{TrainingSavesWorld::saving_locally()};
  world.go_to(16_s);
  world.runs.lose(world.job);  // a process of the gang dies, but no disk
  world.runs.stop(world.job);
  world.stop_pods();
  EXPECT_EQ(world.saved(), 10_s);
  world.pods.remove({1}, PodEnd::RankDied);
  world.create(world.job);
  world.bind_rank(1, {2});
  world.runs.restore(world.job, world.engine.now());
  EXPECT_EQ(world.saved(), 0_s);
}

TEST(TrainingSaves, ANodeThatFailsTakesNothingOfWhatASuspendedGangSaved) {
  TrainingSavesWorld world{TrainingSavesWorld::saving_locally()};
  world.go_to(15_s);  // 14 s of work are done, of which 10 s are on local disks
  world.suspend({});
  world.runs.restore(world.job, Time{} + 20_s);
  world.go_to(25_s);
  ASSERT_EQ(world.phases.of(world.job), JobPhase::Running);
  EXPECT_THAT(world.runs.of(world.job).saved_on, IsEmpty());
  EXPECT_DOUBLE_EQ(world.fail_node({1}), 0);
  EXPECT_EQ(world.saved(), 14_s);
}

TEST(TrainingSaves, WithoutItsLocalCheckpointsAGangFallsBackToWhenItWasSuspended) {
  TrainingSavesWorld world{TrainingSavesWorld::saving_locally()};
  world.go_to(15_s);
  world.suspend({});
  world.runs.restore(world.job, Time{} + 20_s);
  // At 21 s the gang has loaded its checkpoint with 14 s of work. From 31 s to 32 s it writes a
  // checkpoint with 24 s of work to local disks.
  world.go_to(35_s);
  ASSERT_EQ(world.saved(), 24_s);
  EXPECT_DOUBLE_EQ(world.fail_node({1}), 16 * 10.0);
  EXPECT_EQ(world.saved(), 14_s);
  EXPECT_DOUBLE_EQ(GpuTime::seconds(world.accounts.of(world.job).gpu_time.useful), 16 * 14.0);
}

}  // namespace
}  // namespace orrery
