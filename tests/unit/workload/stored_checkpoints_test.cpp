// Checkpoints to a store or to local disks: how long jobs stall for them, and what a failure loses.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "models/workload/training/checkpoint_params.hpp"
#include "tests/support/job_world.hpp"

namespace orrery {
namespace {

// A store takes 8 GB/s in all and 2 GB/s from a node. A local disk takes 1 GB/s.
JobWorld::Options with_stores(uint32_t nodes) {
  JobWorld::Options options;
  options.nodes = nodes;
  options.params = {.failure_detection = 0_s, .restart_delay = {}};
  options.storage.stores.push_back({"blob", {64'000'000'000}, {64'000'000'000}, {}});
  options.storage.node = {{16'000'000'000}, {16'000'000'000}};
  options.storage.local = LocalDiskParams{{8'000'000'000}, {8'000'000'000}};
  return options;
}

JobSpec saving(int32_t pods, Duration work, const CheckpointParams& params) {
  JobSpec job = make_job(JobKind::MpiGang, pods, 8, work);
  job.checkpoint_interval = 10_s;
  job.checkpoint = std::make_shared<CheckpointParams>(params);
  return job;
}

TEST(StoredCheckpoints, ASynchronousOneStopsTheJobForAsLongAsTheStoreTakes) {
  JobWorld world{with_stores(4)};
  world.add({saving(4, 100_s, {.store = "blob", .bytes = {80'000'000'000}})});
  world.run();
  const JobRow row = world.job_rows().at(0);
  EXPECT_EQ(row.run, 190_s);  // 9 checkpoints of 80 GB at 8 GB/s
  EXPECT_DOUBLE_EQ(row.gpu_s_useful, 32 * 100.0);
  EXPECT_DOUBLE_EQ(row.gpu_s_checkpoint, 32 * 90.0);
}

TEST(StoredCheckpoints, UnlessSharedOutTheyGoThroughOneNode) {
  JobWorld world{with_stores(4)};
  world.add({saving(4, 20_s, {.store = "blob", .bytes = {80'000'000'000}, .sharded = false})});
  world.run();
  EXPECT_EQ(world.job_rows().at(0).run, 20_s + 40_s);  // one node writes 80 GB at 2 GB/s
}

TEST(StoredCheckpoints, TwoWritersShareTheStore) {
  JobWorld world{with_stores(4)};
  const CheckpointParams params{.store = "blob", .bytes = {40'000'000'000}};
  world.add({saving(2, 20_s, params), saving(2, 20_s, params)});
  world.run();
  // Each job writes 40 GB from 2 nodes, each at 2 GB/s: 10 s. Together the jobs use exactly the
  // 8 GB/s of the store.
  EXPECT_EQ(world.job_rows().at(0).run, 30_s);
  JobWorld crowded{with_stores(8)};
  const CheckpointParams large{.store = "blob", .bytes = {80'000'000'000}};
  crowded.add({saving(4, 20_s, large), saving(4, 20_s, large)});
  crowded.run();
  EXPECT_EQ(crowded.job_rows().at(0).run, 20_s + 20_s);
  EXPECT_EQ(crowded.job_rows().at(1).run, 20_s + 20_s);
}

TEST(StoredCheckpoints, AnAsynchronousOneStopsTheJobOnlyForTheCopy) {
  JobWorld world{with_stores(4)};
  world.add({saving(4, 100_s,
                    {.store = "blob",
                     .bytes = {64'000'000'000},
                     .mode = CheckpointMode::Async,
                     .host_copy = {16'000'000'000}})});  // 2 GB of each GPU at 2 GB/s; 8 s to write
  world.run();
  const JobRow row = world.job_rows().at(0);
  EXPECT_EQ(row.run, 109_s);
  EXPECT_DOUBLE_EQ(row.gpu_s_useful, 32 * 100.0);
  EXPECT_DOUBLE_EQ(row.gpu_s_checkpoint, 32 * 9.0);
}

TEST(StoredCheckpoints, TheNextAsynchronousOneWaitsForTheLast) {
  JobWorld world{with_stores(4)};
  world.add({saving(4, 30_s,
                    {.store = "blob",
                     .bytes = {128'000'000'000},  // 16 s to write
                     .mode = CheckpointMode::Async,
                     .host_copy = {32'000'000'000}})});  // 4 GB of each GPU at 4 GB/s: 1 s
  world.run();
  // The job computes until 10 s, copies until 11 s, computes until 21 s, waits for the first write
  // until 27 s, copies until 28 s and computes until 38 s.
  EXPECT_EQ(world.job_rows().at(0).run, 38_s);
}

TEST(StoredCheckpoints, AFailureLosesWhatIsNotYetInTheStore) {
  JobWorld world{with_stores(4)};
  world.add({saving(4, 30_s,
                    {.store = "blob",
                     .bytes = {64'000'000'000},
                     .mode = CheckpointMode::Async,
                     .host_copy = {16'000'000'000}})});
  // The first checkpoint is copied at 11 s and written at 19 s. The second one is copied at 22 s
  // and lost at 25 s.
  world.fail_at(Time{} + 25_s, {0});
  world.run();
  const JobRow row = world.job_rows().at(0);
  EXPECT_DOUBLE_EQ(row.gpu_s_lost, 32 * 13.0);
  EXPECT_DOUBLE_EQ(row.gpu_s_useful, 32 * 30.0);
  EXPECT_DOUBLE_EQ(row.gpu_s_restore, 32 * 8.0);
  EXPECT_EQ(row.run, 25_s + 8_s + 20_s + 1_s);  // 8 s to restore, 20 s of work and one more copy
  EXPECT_EQ(world.recoveries().at(0).caught_up, Time{} + 25_s + 8_s + 13_s + 1_s);
}

TEST(StoredCheckpoints, OnLocalDisksTheyAreLostWithTheNode) {
  JobWorld world{with_stores(1)};
  world.add({saving(1, 30_s, {.store = "local", .bytes = {1'000'000'000}})});
  world.fail_at(Time{} + 25_s, {0});
  world.run();
  const JobRow row = world.job_rows().at(0);
  EXPECT_EQ(row.run, 25_s + 32_s);
  EXPECT_DOUBLE_EQ(row.gpu_s_lost, 8 * 23.0);
  EXPECT_DOUBLE_EQ(row.gpu_s_useful, 8 * 30.0);
}

// Processes of the first job die at 25 s. With `moves`, a waiting job takes the node of the first
// job. The first job then restarts on the other node, without its local checkpoint.
TEST(StoredCheckpoints, OnLocalDisksTheyStayBehindWhenTheJobMoves) {
  for (const bool moves : {false, true}) {
    JobWorld world{with_stores(2)};
    JobSpec waiting = make_job(JobKind::MpiGang, 1, 8, 1_h);
    waiting.submitted = Time{} + (moves ? 20_s : 90_s);
    world.add({saving(1, 30_s, {.store = "local", .bytes = {1'000'000'000}}),
               make_job(JobKind::MpiGang, 1, 8, 60_s), waiting});
    world.engine.at(Time{} + 25_s, Label{"test.aborts"}, [&] { world.controller.abort({0}); });
    world.run();
    const std::vector<JobRow> rows = world.job_rows();
    const JobRow row = *std::ranges::find(rows, 0U, &JobRow::job);
    EXPECT_DOUBLE_EQ(row.gpu_s_useful, 8 * 30.0);
    EXPECT_DOUBLE_EQ(row.gpu_s_lost, 8 * (moves ? 23.0 : 3.0));
  }
}

}  // namespace
}  // namespace orrery
