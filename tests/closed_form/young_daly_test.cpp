#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "models/workload/lifecycle/job_controller.hpp"
#include "tests/support/job_world.hpp"
#include "tests/support/report.hpp"

namespace orrery {
namespace {

// After every tau seconds of compute, a gang writes a checkpoint for w seconds. Failures are a
// Poisson process with mean interval M. Each failure costs the work since the last checkpoint and a
// restart of R seconds. A failure during the restart begins the restart anew. The share of useful
// work is exactly
//
//   efficiency = tau / (M * exp(R / M) * (exp((tau + w) / M) - 1)).
//
// A segment, that is, tau of compute and its checkpoint, is tried until a try succeeds. Let x be
// (tau + w) / M. On average, all tries of a segment together take M (e^x - 1), and e^x - 1 of them
// fail. The restarts after one failed try take M (e^{R/M} - 1) on average. Young's optimal tau is
// sqrt(2 w M).
struct Case {
  double mtbf_s, write_s, restart_s, tau_s;

  double efficiency() const {
    return tau_s /
           (mtbf_s * std::exp(restart_s / mtbf_s) * (std::exp((tau_s + write_s) / mtbf_s) - 1));
  }
};

Case case_from(const nlohmann::json& input) {
  Case c{.mtbf_s = 3600 * input["mtbf_h"].get<double>(),
         .write_s = input["write_s"],
         .restart_s = input["restart_s"],
         .tau_s = 0};
  c.tau_s = input.value("tau_over_optimum", 1.0) * std::sqrt(2 * c.write_s * c.mtbf_s);
  return c;
}

nlohmann::json row_of(const std::string& id) {
  return nlohmann::json::parse(test::case_of("tests/closed_form/data/closed_form.json", id));
}

class YoungDaly : public ::testing::TestWithParam<std::string> {};

TEST_P(YoungDaly, TheSimulatedEfficiencyIsTheClosedFormWithinOnePercent) {
  const nlohmann::json data = row_of(GetParam());
  const Case c = case_from(data["input"]);

  JobControllerParams params;
  params.failure_detection = params.restart_delay = {};
  JobWorld world{{.nodes = 2, .gpus = 8, .params = params, .seed = 11, .binds = true}};
  JobSpec job = make_job(JobKind::MpiGang, 2, 8, nearest_ns(20'000 * c.mtbf_s));
  job.checkpoint_interval = nearest_ns(c.tau_s);
  job.checkpoint_write = nearest_ns(c.write_s);
  job.init = nearest_ns(c.restart_s);
  world.add({job});
  // Each failure strikes one of the two nodes at random and so stops the gang. The node is back at
  // once.
  Rng rng = world.rng.stream("test.failures");
  const Duration mean = nearest_ns(c.mtbf_s);
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
  test::report({.id = GetParam()}, efficiency, c.efficiency());
  EXPECT_NEAR(efficiency / c.efficiency(), 1.0, data["tolerance"].get<double>())
      << row.restarts << " failures";
}

// M, w and R are values of a published table about Meta's RSC-1. There M is 1.8 h with 16,384 GPUs,
// 7.9 h with 1,024 and 24 h with about 340.
INSTANTIATE_TEST_SUITE_P(Grid, YoungDaly,
                         ::testing::Values("V4.4.1.8h.tau_x0.5", "V4.4.1.8h.tau_x1",
                                           "V4.4.1.8h.tau_x2", "V4.4.7.9h.tau_x0.5",
                                           "V4.4.7.9h.tau_x1", "V4.4.7.9h.tau_x2",
                                           "V4.4.24h.tau_x0.5", "V4.4.24h.tau_x1",
                                           "V4.4.24h.tau_x2"));

// Compares Case::efficiency() with efficiencies of the same published table. The published values
// are rounded to three or four digits.
TEST(YoungDalyTable, TheEquationGivesThePublishedOptimum) {
  for (const char* id :
       {"V4.4.table.1.8h.w10.R300", "V4.4.table.1.8h.w60.R300", "V4.4.table.2.78h.w60.R300",
        "V4.4.table.7.9h.w60.R60", "V4.4.table.7.9h.w60.R300", "V4.4.table.7.9h.w300.R300",
        "V4.4.table.24h.w60.R300"}) {
    const nlohmann::json data = row_of(id);
    const double ours = case_from(data["input"]).efficiency();
    const auto theirs = data["expected"].get<double>();
    test::report({.id = id}, ours, theirs);
    EXPECT_NEAR(ours / theirs, 1, data["tolerance"].get<double>()) << id;
  }
}

}  // namespace
}  // namespace orrery
