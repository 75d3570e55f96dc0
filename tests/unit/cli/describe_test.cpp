// What `orrery describe NAME` prints for a metric, and for a part of a name.
#include <gmock/gmock.h>

#include "tests/support/cli_run.hpp"

namespace orrery {
namespace {

using ::testing::HasSubstr;

TEST(Describe, AMetricIsExplainedByItsName) {
  const Said mean = run({"describe", "jobs_completed"}), p99 = run({"describe", "wait_p99"});
  EXPECT_EQ(mean.status, 0);
  EXPECT_THAT(mean.out, HasSubstr("  jobs_completed  jobs that completed (jobs)\n"));
  EXPECT_THAT(p99.out, HasSubstr("  wait_p99  99th percentile of the time from submission"));
}

TEST(Describe, APartOfANameFindsTheNamesThatHaveIt) {
  EXPECT_THAT(run({"describe", "kueue"}).err,
              HasSubstr("; names that contain it: KueueTopology\n"));
  EXPECT_THAT(run({"describe", "policy.bse"}).err, HasSubstr("; did you mean 'policy.base'?"));
}

}  // namespace
}  // namespace orrery
