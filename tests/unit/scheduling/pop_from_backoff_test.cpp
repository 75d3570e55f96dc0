// With pop_from_backoff an idle scheduler does not wait for a backoff to end, whatever the profile.
#include <gtest/gtest.h>

#include <string>

#include "models/workload/job/job_rows.hpp"
#include "models/workload/job/pod_row.hpp"
#include "models/workload/job/recovery_row.hpp"
#include "tests/support/scheduler_world.hpp"

namespace orrery {
namespace {

// The time at which the second job is bound. The second job finds no node at 2.2 s. Its backoff of
// 1 s would end at 3.2 s, which is rounded down to 3 s. The first job leaves its nodes at 2.5 s.
Time second_is_bound(const std::string& base, const std::vector<std::string>& overrides) {
  ScenarioRun run{
      "cluster: {pools: [{name: n, machine: dgx-a100, count: 4}]}\n"
      "workload: {sources: [{kind: jobs, jobs: [\n"
      "  {name: first, work: 2500ms, pods: 4, pod: {gpus: 8}},\n"
      "  {name: second, submit: 2200ms, work: 10s, pods: 4, pod: {gpus: 8}}]}]}\n"
      "policy: {base: " +
          base + "}\nrun: {until: 1min}\n",
      overrides};
  const auto jobs = run.jobs();
  for (const JobRow& job : jobs) {
    if (job.name.view() == "second") return job.bound;
  }
  ADD_FAILURE() << "no second job";
  return {};
}

class PopFromBackoff : public testing::TestWithParam<std::string> {};

TEST_P(PopFromBackoff, IsOnAsInTheReleasesThatProfilesFollow) {
  const Time bound = second_is_bound(GetParam(), {});
  EXPECT_EQ(bound, second_is_bound(GetParam(), {"policy.queue.pop_from_backoff=true"}));
  EXPECT_GE(bound, Time{} + 2500_ms);
  EXPECT_LT(bound, Time{} + 2600_ms);
}

TEST_P(PopFromBackoff, IfOffLetsPodsSitOutTheirBackoff) {
  const Time bound = second_is_bound(GetParam(), {"policy.queue.pop_from_backoff=false"});
  EXPECT_GE(bound, Time{} + 3_s);
  EXPECT_LT(bound, Time{} + 3100_ms);
}

INSTANTIATE_TEST_SUITE_P(EachProfile, PopFromBackoff,
                         testing::Values("default", "coscheduling", "koordinator", "strict_gang",
                                         "native_gang"),
                         [](const auto& base) { return base.param; });

}  // namespace
}  // namespace orrery
