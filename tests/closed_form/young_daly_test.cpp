#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "models/workload/job_controller.hpp"
#include "tests/support/job_world.hpp"

namespace orrery {
namespace {

// A gang that checkpoints every tau of compute for w seconds, struck by a Poisson process of mean
// time M between failures, each of which costs the work since the last checkpoint and a restart of
// R (which failures may strike, too), spends on useful work the share
//
//   efficiency = tau / (M * exp(R / M) * (exp((tau + w) / M) - 1))
//
// exactly: a segment of tau + w ends after M (e^{(tau+w)/M} - 1) of trying, and each of its
// e^{(tau+w)/M} - 1 failures adds a restart of M (e^{R/M} - 1). Young's optimum is sqrt(2 w M).
struct Case {
  double mtbf_h;
  double write_s, restart_s;
  double tau_over_optimum;
};

class YoungDaly : public ::testing::TestWithParam<Case> {};

TEST_P(YoungDaly, TheSimulatedEfficiencyIsTheClosedFormWithinOnePercent) {
  const Case c = GetParam();
  const double mtbf_s = c.mtbf_h * 3600;
  const double tau_s = c.tau_over_optimum * std::sqrt(2 * c.write_s * mtbf_s);
  const double expected = tau_s / (mtbf_s * std::exp(c.restart_s / mtbf_s) *
                                   (std::exp((tau_s + c.write_s) / mtbf_s) - 1));

  JobControllerParams params;
  params.failure_detection = params.restart_delay = {};
  JobWorld world{{.nodes = 2, .gpus = 8, .params = params, .seed = 11, .binds = true}};
  JobRequest job = make_job(JobKind::MpiGang, 2, 8, nearest_ns(20'000 * mtbf_s));
  job.checkpoint_interval = nearest_ns(tau_s);
  job.checkpoint_write = nearest_ns(c.write_s);
  job.init = nearest_ns(c.restart_s);
  world.add({job});
  // The failures of the whole gang, each on a node of its own.
  Rng rng = world.rng.stream("test.failures");
  const Duration mean = nearest_ns(mtbf_s);
  const std::function<void()> fail = [&] {
    const NodeId node{static_cast<uint32_t>(rng.below(2))};
    world.fail(node);
    world.repair(node);
    if (world.controller.all_done()) return;
    world.engine.after(
        rng.exponential(mean), Label{"test.failure"}, [&fail] { fail(); }, Phase::Fault);
  };
  world.engine.at(
      Time{} + rng.exponential(mean), Label{"test.failure"}, [&fail] { fail(); }, Phase::Fault);
  world.run();

  const JobRow row = world.job_rows().at(0);
  ASSERT_EQ(row.outcome, JobOutcome::Completed);
  const double efficiency = row.work.seconds() / (row.ended - row.submitted).seconds();
  EXPECT_NEAR(efficiency / expected, 1.0, 0.01)
      << "M " << c.mtbf_h << " h, tau " << tau_s << " s, " << row.restarts << " failures";
  RecordProperty("relative_error", std::to_string(efficiency / expected - 1));
}

// M, w and R as in the published table: 16,384, 1,024 and about 340 GPUs of Meta's RSC-1.
INSTANTIATE_TEST_SUITE_P(Grid, YoungDaly,
                         ::testing::Values(Case{1.8, 60, 300, 0.5}, Case{1.8, 60, 300, 1},
                                           Case{1.8, 60, 300, 2}, Case{7.9, 60, 300, 0.5},
                                           Case{7.9, 60, 300, 1}, Case{7.9, 60, 300, 2},
                                           Case{24, 60, 300, 0.5}, Case{24, 60, 300, 1},
                                           Case{24, 60, 300, 2}));

// The same equation against the efficiencies printed in the published table (three digits).
TEST(YoungDalyTable, TheEquationGivesThePublishedOptimum) {
  struct Published {
    double mtbf_h, write_s, restart_s, efficiency;
  };
  for (const Published& p : {Published{1.8, 10, 300, .903}, Published{1.8, 60, 300, .831},
                             Published{2.78, 60, 300, .868}, Published{7.9, 60, 60, .9345},
                             Published{7.9, 60, 300, .9266}, Published{7.9, 300, 300, .853},
                             Published{24, 60, 300, .960}}) {
    const double m = p.mtbf_h * 3600;
    const double tau = std::sqrt(2 * p.write_s * m);
    const double efficiency =
        tau / (m * std::exp(p.restart_s / m) * (std::exp((tau + p.write_s) / m) - 1));
    EXPECT_NEAR(efficiency, p.efficiency, 0.0015) << p.mtbf_h << " h";
  }
}

}  // namespace
}  // namespace orrery
