// Results of the shipped scenario of three classes of work.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "models/telemetry/priority_row.hpp"
#include "models/workload/job/job_rows.hpp"
#include "tests/support/shipped_run.hpp"

namespace orrery {
namespace {

struct Classes {
  std::map<int32_t, PriorityRow> rows;      // rows of /priorities, by priority
  std::map<int32_t, Duration> waits_max;    // longest wait by priority, from rows of /jobs
  std::map<int32_t, uint64_t> preemptions;  // how often pods of the priority were preempted
  std::map<int32_t, double> useful_gpu_s;
};

Classes classes(const std::vector<std::string>& overrides) {
  ShippedRun run{"three-classes", overrides};
  Classes found;
  for (const PriorityRow& row : run.recorder.rows<PriorityRow>("/priorities")) {
    found.rows[row.priority] = row;
  }
  for (const JobRow& row : run.recorder.rows<JobRow>("/jobs")) {
    EXPECT_EQ(row.outcome, JobOutcome::Completed) << row.name.view();
    Duration& wait_max = found.waits_max[row.priority];
    wait_max = std::max(wait_max, row.wait);
    found.preemptions[row.priority] += static_cast<uint64_t>(row.preemptions);
    found.useful_gpu_s[row.priority] += row.gpu_s_useful;
  }
  return found;
}

TEST(ThreeClassesScenario, ResearchPaysForTheClassesAboveIt) {
  Classes with = classes({});
  const PriorityRow& research = with.rows[0];
  const PriorityRow& iteration = with.rows[100];
  const PriorityRow& production = with.rows[200];
  EXPECT_LT(with.waits_max[200], 1_min) << "the victims have half a minute to end";
  EXPECT_LT(with.waits_max[100], 1_min);
  EXPECT_EQ(production.pods_preempted + iteration.pods_preempted, 0U);
  EXPECT_EQ(research.jobs, 10U);
  EXPECT_GE(research.jobs_preempted, 5U);
  EXPECT_GT(research.pods_preempted, 10U);
  EXPECT_EQ(research.pods_preempted, production.pods_preempted_by + iteration.pods_preempted_by);
  EXPECT_EQ(research.pods_preempted_by, 0U);
  EXPECT_GT(research.gpu_s_lost_preempted, 10 * 3600.0);
  EXPECT_LT(research.gpu_s_lost_preempted, static_cast<double>(research.pods_preempted) * 8 * 3600)
      << "at most an hour of a pod's 8 GPUs";
  EXPECT_DOUBLE_EQ(research.gpu_s_lost_preempted, research.gpu_s_lost) << "nothing else fails";

  Classes without = classes({"policy.plugins=[]"});
  EXPECT_GT(without.rows[200].wait_mean, 3600);
  EXPECT_EQ(without.rows[0].pods_preempted, 0U);
  EXPECT_EQ(without.rows[0].gpu_s_lost_preempted, 0);
  EXPECT_LT(without.rows[0].jct_mean, research.jct_mean) << "what preemption costs research";
}

TEST(ThreeClassesScenario, TheTableOfPrioritiesAgreesWithTheJobs) {
  Classes with = classes({});
  ASSERT_EQ(with.rows.size(), 3U);
  for (const auto& [priority, row] : with.rows) {
    SCOPED_TRACE(priority);
    EXPECT_EQ(row.jobs_completed, row.jobs);
    EXPECT_EQ(row.jobs_ran, row.jobs);
    EXPECT_EQ(row.pods_preempted, with.preemptions[priority]);
    EXPECT_NEAR(row.gpu_s_useful, with.useful_gpu_s[priority], 1e-6 * row.gpu_s_useful);
    EXPECT_LE(row.wait_p50, row.jct_p50);
  }
}

}  // namespace
}  // namespace orrery
