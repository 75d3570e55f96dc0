// Results of the shipped scenario about minimums of roles.
#include <gtest/gtest.h>

#include "models/workload/job/job_rows.hpp"
#include "tests/support/shipped_run.hpp"

namespace orrery {
namespace {

constexpr const char* kNoServer = "workload.sources[0].jobs[1].gangs[0].roles[1].min_available=0";

// The job arrives at 1 min. Until 30 min, data preparation holds the CPUs that the job's servers
// need.
TEST(RoleMinimumsScenario, TheJobWaitsForAServerAndWithoutTheMinimumForNobody) {
  ShippedRun with{"role-minimums"};
  const JobRow row = with.job("train");
  EXPECT_EQ(row.outcome, JobOutcome::Completed);
  EXPECT_EQ(row.members, 6);
  EXPECT_GE(row.wait, 29_min);
  EXPECT_LT(row.wait, 31_min);
  ShippedRun without{"role-minimums", {kNoServer}};
  EXPECT_EQ(without.job("train").members, 6);
  EXPECT_LT(without.job("train").wait, 1_min);
}

}  // namespace
}  // namespace orrery
