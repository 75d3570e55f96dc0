#include <gtest/gtest.h>

#include <map>

#include "models/workload/lifecycle/job_controller.hpp"
#include "tests/support/job_world.hpp"

namespace orrery {
namespace {

// Random jobs on a small cluster whose nodes fail at random. At the end of the run, the accounts
// must add up to the GPU time that pods held.
class JobLives : public ::testing::TestWithParam<uint64_t> {
 protected:
  static JobSpec random_job(Rng& rng) {
    const bool is_gang = rng.chance(0.6);
    const auto pods = static_cast<int32_t>(1 + rng.below(5));
    const auto gpus = static_cast<int32_t>(rng.below(5));
    JobSpec job =
        make_job(is_gang ? JobKind::MpiGang : JobKind::Pods, pods, gpus, rng.exponential(400_s));
    if (is_gang && rng.chance(0.3)) {
      job.gangs.push_back(job.gangs[0]);
      job.gangs[0].min_available = static_cast<int32_t>(1 + rng.below(static_cast<uint64_t>(pods)));
    }
    if (rng.chance(0.7)) {
      job.checkpoint_interval = 1_ns + rng.exponential(60_s);
      job.checkpoint_write = rng.exponential(10_s);
      job.restore = rng.exponential(5_s);
    }
    if (rng.chance(0.5)) job.init = rng.exponential(10_s);
    if (rng.chance(0.5)) job.restart_scope = RestartScope::Pod;
    if (rng.chance(0.2)) job.restarts_max = static_cast<int32_t>(rng.below(4));
    return job;
  }
};

TEST_P(JobLives, BalanceTheirBooksUnderRandomFailures) {
  Rng rng{GetParam()};
  JobControllerParams params{.concurrent_syncs = 2, .pods_per_sync_max = 3};
  if (rng.chance(0.3)) params.pod_creation_interval = 1_s;
  if (rng.chance(0.5)) params.pod_start = {.median = 5_s, .sigma = rng.chance(0.5) ? 1.0 : 0.0};
  params.failure_detection = rng.chance(0.3) ? Duration{} : 5_s;
  params.restart_delay = rng.chance(0.3) ? Duration{} : 10_s;
  JobWorld world{{.nodes = 6, .gpus = 8, .params = params, .seed = GetParam(), .binds = true}};
  std::vector<JobSpec> jobs;
  Time submitted;
  for (int i = 0; i < 60; ++i) {
    jobs.push_back(random_job(rng));
    jobs.back().submitted = submitted;
    jobs.back().external_id = i;
    if (rng.chance(0.5)) submitted = submitted + rng.exponential(200_s);
  }
  world.add(jobs);

  Time failed;
  for (int i = 0; i < 150; ++i) {
    // One failure in five occurs at the same instant as the previous failure.
    if (rng.chance(0.8)) failed = failed + rng.exponential(100_s);
    world.fail_at(failed, {static_cast<uint32_t>(rng.below(6))});
  }
  // `held` is the GPU time between the binding and the end of pods, computed by the test itself.
  std::map<uint32_t, Time> bound_at;
  int128_t held = 0;
  world.controller.pod_removed.connect([&](PodId id) {
    const Pod& pod = world.jobs.pod(id);
    if (pod.state == PodState::Pending) return;
    held += GpuTime::of(world.jobs.request(id).resources[Resource::Gpu],
                        world.engine.now() - pod.bound);
  });
  std::map<uint64_t, int> endings;
  world.controller.job_over.connect([&](JobId id) { ++endings[world.jobs.job(id).serial]; });
  world.run(Time{} + 100_d);
  // Partly placed gangs may hold all GPUs for ever. The accounts must still add up.
  world.controller.finish(world.engine.now());
  world.jobs.for_each_job([&](JobId id) {
    const Job& job = world.jobs.job(id);
    JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId p) {
      const Pod& pod = world.jobs.pod(p);
      if (pod.state != PodState::Bound && pod.state != PodState::Running) return;
      held += GpuTime::of(world.jobs.request(p).resources[Resource::Gpu],
                          world.engine.now() - pod.bound);
    });
  });

  const auto rows = world.job_rows();
  ASSERT_EQ(rows.size(), 60u) << "seed " << GetParam();
  double accounted = 0;
  for (const JobRow& row : rows) {
    EXPECT_LE(endings[row.job], 1) << "seed " << GetParam();
    accounted += row.gpu_s_useful + row.gpu_s_lost + row.gpu_s_checkpoint + row.gpu_s_restore +
                 row.gpu_s_held + row.gpu_s_hung;
    if (row.outcome == JobOutcome::Completed && row.kind == JobKind::Pods) {
      EXPECT_NEAR(row.gpu_s_useful, row.gpus * row.work.seconds(), 1e-6 * row.gpu_s_useful);
    }
    if (row.outcome == JobOutcome::Completed) {
      EXPECT_LE(row.gpu_s_useful, row.gpus * row.work.seconds() * (1 + 1e-9) + 1e-9);
    }
  }
  EXPECT_NEAR(accounted, GpuTime::seconds(held), 1e-6 * accounted + 1e-6) << "seed " << GetParam();
  if (world.jobs.live_jobs() == 0) {
    EXPECT_EQ(world.cluster.gpu_milli_allocated(), 0);
  }
  const auto& counters = world.controller.counters();
  EXPECT_EQ(counters.submitted, 60u);
  EXPECT_EQ(counters.completed + counters.failed + world.jobs.live_jobs(), 60u);
  double lost_in_rows = 0, lost_in_recoveries = 0;
  // Rows of recoveries do not cover the compute that the healthy pods lose when a job of
  // independent pods fails.
  const auto is_excepted = [&](uint64_t job) {
    for (const JobRow& row : rows) {
      if (row.job == job) return row.kind == JobKind::Pods && row.outcome == JobOutcome::Failed;
    }
    return false;
  };
  for (const JobRow& row : rows) lost_in_rows += is_excepted(row.job) ? 0 : row.gpu_s_lost;
  for (const RecoveryRow& row : world.recoveries()) {
    lost_in_recoveries += is_excepted(row.job) ? 0 : row.lost_gpu_s;
  }
  EXPECT_NEAR(lost_in_rows, lost_in_recoveries, 1e-6 * lost_in_rows) << "seed " << GetParam();
}

INSTANTIATE_TEST_SUITE_P(Seeds, JobLives, ::testing::Range<uint64_t>(1, 201));

}  // namespace
}  // namespace orrery
