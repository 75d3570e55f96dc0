// Results of the shipped scenario about preemption.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "models/workload/job/job_rows.hpp"
#include "models/workload/job/pod_row.hpp"
#include "models/workload/job/recovery_row.hpp"
#include "tests/support/shipped_run.hpp"

namespace orrery {
namespace {

struct Preempted {
  Duration wait_max;  // longest wait of an urgent job
  int preemptions = 0;
  double lost_gpu_s = 0;
  int completed = 0;
};

Preempted shown(const std::vector<std::string>& overrides) {
  ShippedRun run{"preemption", overrides};
  Preempted found;
  for (const JobRow& row : run.recorder.rows<JobRow>("/jobs")) {
    if (row.name.view() == "urgent") found.wait_max = std::max(found.wait_max, row.wait);
    found.preemptions += row.preemptions;
    found.lost_gpu_s += row.gpu_s_lost;
    found.completed += row.outcome == JobOutcome::Completed ? 1 : 0;
  }
  return found;
}

TEST(PreemptionScenario, UrgentJobsStartAtOnceAndExperimentsGoOnFromTheirCheckpoints) {
  const Preempted with = shown({});
  EXPECT_LT(with.wait_max, 2_min);
  EXPECT_EQ(with.preemptions, 8);
  EXPECT_GT(with.lost_gpu_s, 0);
  EXPECT_LT(with.lost_gpu_s, 8 * 8 * (30_min).seconds()) << "half an hour each at most";
  const Preempted without = shown({"policy.disable=[DefaultPreemption]"});
  EXPECT_GT(without.wait_max, 2_h);
  EXPECT_EQ(without.preemptions, 0);
  EXPECT_EQ(without.lost_gpu_s, 0);
}

}  // namespace
}  // namespace orrery
