// What controllers do to a gang below a dead leaf switch.
#include <gtest/gtest.h>

#include "models/controllers/action_rows.hpp"
#include "tests/support/shipped_run.hpp"

namespace orrery {
namespace {

int32_t restarts(const std::vector<std::string>& overrides) {
  ShippedRun run{"broken-leaf", overrides};
  const JobRow job = run.job("t");
  EXPECT_EQ(job.outcome, JobOutcome::Completed);
  return job.restarts;
}

TEST(BrokenLeafScenario, AGangRestartsElsewhereOnceItsNodesAreCordoned) {
  EXPECT_EQ(restarts({}), 1);
  EXPECT_GT(restarts({"policy.controllers=[]"}), 200);
}

}  // namespace
}  // namespace orrery
