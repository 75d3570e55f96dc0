#include <gtest/gtest.h>

#include "tests/support/telemetry_world.hpp"

namespace orrery {
namespace {

std::vector<JobSpec> random_jobs(Rng& rng) {
  std::vector<JobSpec> jobs;
  Time submitted;
  for (int i = 0; i < 60; ++i) {
    const auto kind = rng.chance(0.5) ? JobKind::MpiGang : JobKind::Pods;
    JobSpec job = make_job(kind, static_cast<int32_t>(1 + rng.below(4)),
                           static_cast<int32_t>(rng.below(9)), rng.exponential(5_h));
    submitted = submitted + rng.exponential(1_h);
    job.submitted = submitted;
    job.init = Duration{static_cast<int64_t>(rng.below(300)) * 1'000'000'000};
    job.team = rng.chance(0.5) ? "red" : "blue";
    if (rng.chance(0.7)) {
      job.checkpoint_interval = 30_min;
      job.checkpoint_write = 2_min;
      job.restore = 3_min;
    }
    if (rng.chance(0.3)) job.restart_scope = RestartScope::Pod;
    jobs.push_back(job);
  }
  return jobs;
}

struct ShownSums {
  double up = 0, allocated = 0, reported = 0, power = 0, loaded = 0, computing = 0, useful = 0;
};

ShownSums sums_of(const std::vector<ClusterSample>& rows, const std::vector<UsefulSample>& useful) {
  ShownSums sums;
  Time before;
  for (size_t i = 0; i < rows.size(); ++i) {
    const double span_s = (rows[i].time - before).seconds();
    before = rows[i].time;
    sums.up += rows[i].gpus_up * span_s;
    sums.allocated += rows[i].gpus_allocated * span_s;
    sums.reported += rows[i].gpus_reported * span_s;
    sums.power += rows[i].gpu_power_watts * span_s;
    sums.loaded += rows[i].gpus_power * span_s;
    sums.computing += rows[i].gpus_computing * span_s;
    sums.useful += useful[i].gpus_useful * span_s;
    const double slack = 1e-9 * rows[i].gpus_total;
    EXPECT_GE(useful[i].gpus_useful, 0) << "row " << i;
    // A job alternates 30 min of compute and 2 min of writing. gpus_computing is a mean over this
    // cycle. gpus_useful is up to 32 / 30 times that mean while the job computes.
    EXPECT_LE(useful[i].gpus_useful, rows[i].gpus_computing * 32 / 30 + slack) << "row " << i;
    EXPECT_LE(useful[i].gpus_useful, rows[i].gpus_reported + slack) << "row " << i;
    EXPECT_LE(rows[i].gpus_computing, rows[i].gpus_reported + slack) << "row " << i;
    EXPECT_LE(rows[i].gpus_reported, rows[i].gpus_allocated + slack) << "row " << i;
    EXPECT_LE(rows[i].gpus_allocated, rows[i].gpus_up + slack) << "row " << i;
  }
  return sums;
}

// Random jobs on failing nodes: the job controller's accounts, the timeline and the integrals of
// GpuUsage show the same GPU time.
TEST(TelemetryProperty, JobsTimelineAndTotalsAgree) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    FaultParams faults;
    faults.nodes.emplace_back();
    faults.nodes[0].rate = 2000;
    faults.nodes[0].repair = ExponentialRepair{.mean = 2_h};
    TelemetryWorld world{{.nodes = 6, .seed = seed}, faults, {.interval = 10_min}};
    Rng rng{seed};
    const auto jobs = random_jobs(rng);
    world.add(jobs);
    const Time end = Time{} + 47_h + 7_min;
    world.run_until(end);
    const auto total = [&](GpuRate r) { return world.gpu_s(r); };
    const ShownSums shown = sums_of(world.rows_of<ClusterSample>("/timeline/cluster"),
                                    world.rows_of<UsefulSample>("/timeline/useful"));
    const double scale = 1e-9 * total(GpuRate::Power);
    EXPECT_NEAR(shown.up, total(GpuRate::Up), scale);
    EXPECT_NEAR(shown.allocated, total(GpuRate::Allocated), scale);
    EXPECT_NEAR(shown.reported, total(GpuRate::Reported), scale);
    EXPECT_NEAR(shown.power, total(GpuRate::Power), scale);
    EXPECT_NEAR(shown.loaded, total(GpuRate::Loaded), scale);
    EXPECT_NEAR(shown.computing, total(GpuRate::Computing), scale);
    double held = 0, reported = 0, useful = 0;
    for (const JobRow& row : world.job_rows()) {
      const double runs = row.gpu_s_useful + row.gpu_s_lost + row.gpu_s_checkpoint;
      reported += runs + row.gpu_s_hung;
      held += runs + row.gpu_s_hung + row.gpu_s_restore + row.gpu_s_held;
      useful += row.gpu_s_useful;
    }
    EXPECT_NEAR(held, total(GpuRate::Allocated), scale);
    EXPECT_NEAR(reported, total(GpuRate::Reported), scale);
    EXPECT_NEAR(useful, shown.useful, 1e-9 * useful);
    double on_nodes = 0;
    for (const NodeRow& row : world.rows_of<NodeRow>("/nodes")) on_nodes += row.gpu_s_allocated;
    EXPECT_NEAR(on_nodes, total(GpuRate::Allocated), scale);
    EXPECT_GT(world.faults.counters().faults, 10u);
  }
}

}  // namespace
}  // namespace orrery
