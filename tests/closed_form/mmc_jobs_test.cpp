#include <gtest/gtest.h>

#include <array>

#include "models/workload/workload_params.hpp"
#include "sim/config/reader.hpp"
#include "tests/support/job_world.hpp"
#include "tests/support/report.hpp"

namespace orrery {
namespace {

// The mean wait W by Erlang's formula. Jobs of one GPU arrive at rate lambda and run for
// exponential times of rate mu on c GPUs, first come first served.
// With a = lambda / mu and rho = a / c:
//   W = C / (c mu - lambda)
//   C = P(wait > 0) = (a^c / (c! (1 - rho))) / (sum_{k<c} a^k / k! + a^c / (c! (1 - rho)))
double mean_wait(double lambda, double mu, int c) {
  const double a = lambda / mu;
  double term = 1, sum = 0;  // term is a^k / k!, at the end a^c / c!
  for (int k = 0; k < c; ++k) {
    sum += term;
    term *= a / (k + 1);
  }
  const double waiting = term / (1 - a / c);
  return waiting / (sum + waiting) / (c * mu - lambda);
}

// Enough jobs for the tolerance of 1 %: their mean wait has a standard error of 0.33 %, see
// mmc_test.cpp.
constexpr uint64_t kJobs = 4'000'000;

TEST(MmcJobs, GeneratedJobsThroughTheControllerWaitAsErlangSays) {
  Diagnostics diagnostics;
  const config::Document document = config::load_text(R"(
sources:
  - kind: generator
    arrival_rate: 360
    jobs_max: 4000000
    shape:
      kind: classes
      classes: [{gpus: {kind: fixed, value: 1}, duration: {kind: exponential, mean: 10s}}]
)",
                                                      "mmc.yaml", diagnostics);
  const auto params = read_params<WorkloadParams>(document.root, "", diagnostics);
  ASSERT_TRUE(diagnostics.ok()) << diagnostics.text();
  JobWorld world{{.nodes = 1, .gpus = 2, .seed = 4, .records = false}};
  world.records_creations = false;
  double waited = 0;
  world.controller.phase_changed.connect([&](JobId id, JobPhase, JobPhase after) {
    if (after == JobPhase::Running) {
      waited += (world.engine.now() - world.jobs.job(id).spec.submitted).seconds();
    }
  });
  for (auto& source : make_job_sources(params, world.rng)) {
    world.controller.add_source(std::move(source));
  }
  world.run();
  EXPECT_EQ(world.controller.counters().completed, kJobs);
  // The job table reuses ids. So it grows with the jobs alive at once, not with all jobs.
  EXPECT_LT(world.jobs.jobs_bound(), 300u);
  const double wait = waited / static_cast<double>(kJobs), expected = mean_wait(0.1, 0.1, 2);
  test::report({.id = "MMC.controller"}, wait, expected);
  EXPECT_NEAR(wait / expected, 1, 0.01);
}

}  // namespace
}  // namespace orrery
