// Random elastic gangs whose nodes come up late: the accounts of the job must agree with the phases
// and pods that the test observes.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "sim/core/check.hpp"
#include "sim/core/rng.hpp"
#include "tests/support/job_world.hpp"

namespace orrery {
namespace {

Duration uniform_up_to(Rng& rng, Duration most) {
  return Duration{static_cast<int64_t>(rng.below(static_cast<uint64_t>(most.ns) + 1))};
}

// A single job that is interrupted only by members that join late.
struct LoneElasticGang {
  struct Stretch {  // time between the begin and the end of compute with the same members
    Time from, to;
    std::set<int32_t> members;  // ranks of the members
  };

  explicit LoneElasticGang(uint64_t seed) : rng{seed}, world{make_options(rng)} {
    for (uint32_t n = 0; n < world.cluster.nodes(); ++n) {
      if (n < 1 || rng.chance(0.3)) continue;
      world.fail({n});
      world.engine.at(
          Time{} + uniform_up_to(rng, 10_min), Label{"test.node_is_there"},
          [this, n] { world.repair({n}); }, Phase::Fault);
    }
    world.controller.phase_changed.connect([this](JobId id, JobPhase before, JobPhase after) {
      const Job& job = world.jobs.job(id);
      if (before == JobPhase::Running) stretches.back().to = world.engine.now();
      if (after != JobPhase::Running) return;
      stretches.push_back({.from = world.engine.now(), .to = {}, .members = {}});
      JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId pod) {
        if (world.jobs.pod(pod).state != PodState::Running) return;
        stretches.back().members.insert(world.jobs.pod(pod).rank);
      });
    });
  }
  static JobWorld::Options make_options(Rng& rng) {
    JobControllerParams params;
    params.last_call = rng.chance(0.5) ? uniform_up_to(rng, 1_min) : Duration{};
    params.monitor_interval = rng.chance(0.3) ? 100_ms : uniform_up_to(rng, 20_s);
    if (rng.chance(0.5)) params.pod_start = {.median = 5_s, .sigma = 1};
    return {.nodes = static_cast<uint32_t>(2 + rng.below(7)), .params = params, .seed = rng.next()};
  }
  JobSpec random_job() {
    const auto pods = static_cast<int32_t>(world.cluster.nodes());
    JobSpec job = make_job(JobKind::MpiGang, pods, 8, 1_s + uniform_up_to(rng, 10_min));
    job.gangs[0].min_available = static_cast<int32_t>(1 + rng.below(world.cluster.nodes() - 1));
    if (rng.chance(0.7)) job.checkpoint_interval = 1_s + uniform_up_to(rng, 1_min);
    if (rng.chance(0.5)) job.restore = uniform_up_to(rng, 20_s);
    if (rng.chance(0.5)) job.init = uniform_up_to(rng, 20_s);
    return job;
  }

  Rng rng;
  JobWorld world;
  std::vector<Stretch> stretches;
};

constexpr double kMemberGpus = 8;  // GPUs of one member

TEST(Membership, ChangesLoseNoGpuAndCountNoWorkTwice) {
  const uint64_t changes_before = mark_count("jobs.membership_changed");
  for (uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    LoneElasticGang gang{seed};
    const JobSpec job = gang.random_job();
    gang.world.add({job});
    gang.world.run();

    const JobRow row = gang.world.job_rows().at(0);
    ASSERT_EQ(row.outcome, JobOutcome::Completed);
    EXPECT_EQ(row.restarts, 0);
    // Each change of members ends a stretch and keeps only its whole checkpoint intervals. The last
    // stretch ends when the job completes, so it is kept entirely.
    double useful = 0, lost = 0;
    double saved = 0;  // the kept time, in seconds of work of a full gang
    for (const auto& stretch : gang.stretches) {
      const bool is_last = &stretch == &gang.stretches.back();
      const Duration span = stretch.to - stretch.from, interval = job.checkpoint_interval;
      const Duration whole = interval == Duration{} ? Duration{} : interval * (span / interval);
      const Duration kept = is_last ? span : whole;
      saved += kept.seconds() * static_cast<double>(stretch.members.size()) /
               static_cast<double>(gang.world.cluster.nodes());
      useful += kMemberGpus * static_cast<double>(stretch.members.size()) * kept.seconds();
      lost += kMemberGpus * static_cast<double>(stretch.members.size()) * (span - kept).seconds();
    }
    EXPECT_NEAR(saved, job.work.seconds(), 1e-6);  // tolerance: each start rounds to a nanosecond
    EXPECT_NEAR(row.gpu_s_useful, useful, 1e-9 * useful);
    EXPECT_NEAR(row.gpu_s_lost, lost, 1e-9 * lost + 1e-9);

    EXPECT_EQ(row.members, static_cast<int32_t>(gang.stretches.back().members.size()));
    EXPECT_EQ(gang.world.gang_starts().size(), static_cast<size_t>(row.membership_changes) + 1);
    for (const GangStartRow& start : gang.world.gang_starts()) {
      EXPECT_GE(start.members, job.gangs[0].min_available);
    }

    double held = 0;
    for (const PodRow& pod : gang.world.pod_rows()) {
      if (pod.bound != kNever) held += kMemberGpus * (pod.ended - pod.bound).seconds();
    }
    const double accounted = row.gpu_s_useful + row.gpu_s_lost + row.gpu_s_restore + row.gpu_s_held;
    EXPECT_NEAR(accounted, held, 1e-9 * held);
    EXPECT_EQ(gang.world.cluster.gpu_milli_allocated(), 0);

    double lost_in_recoveries = 0;
    for (const RecoveryRow& recovery : gang.world.recoveries()) {
      EXPECT_TRUE(recovery.is_membership_change);
      lost_in_recoveries += recovery.lost_gpu_s;
    }
    EXPECT_EQ(static_cast<int32_t>(gang.world.recoveries().size()), row.membership_changes);
    EXPECT_NEAR(lost_in_recoveries, lost, 1e-9 * lost + 1e-9);
  }
  EXPECT_GT(mark_count("jobs.membership_changed"), changes_before + 500);
}

TEST(Membership, NoMemberWithANodeIsLeftOutForLongerThanTheMonitorInterval) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    LoneElasticGang gang{seed};
    gang.world.add({gang.random_job()});
    gang.world.run();
    // Repeats the draw of make_options() with the same seed, to know the gang's monitor interval.
    Rng rng{seed};
    const Duration interval = *LoneElasticGang::make_options(rng).params.monitor_interval;
    for (const PodRow& pod : gang.world.pod_rows()) {
      if (pod.started == kNever) continue;
      for (const auto& stretch : gang.stretches) {
        if (stretch.members.contains(pod.rank)) continue;
        EXPECT_LE(stretch.to, std::max(pod.started, stretch.from) + interval);
      }
    }
    const auto grows = [](const LoneElasticGang::Stretch& a, const LoneElasticGang::Stretch& b) {
      return a.members.size() < b.members.size() && std::ranges::includes(b.members, a.members);
    };
    for (size_t i = 1; i < gang.stretches.size(); ++i) {
      EXPECT_TRUE(grows(gang.stretches[i - 1], gang.stretches[i]));
    }
  }
}

}  // namespace
}  // namespace orrery
