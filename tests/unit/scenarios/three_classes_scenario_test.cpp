// What the shipped scenario about three classes of work shows.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "models/workload/job/job_rows.hpp"
#include "tests/support/shipped_run.hpp"

namespace orrery {
namespace {

struct OfClass {
  Duration wait_max;
  int preemptions = 0;  // suffered, in pods
  double lost_gpu_h = 0;
};

std::map<int32_t, OfClass> classes(const std::vector<std::string>& overrides) {
  ShippedRun run{"three-classes", overrides};
  std::map<int32_t, OfClass> found;
  for (const JobRow& row : run.recorder.rows<JobRow>("/jobs")) {
    EXPECT_EQ(row.outcome, JobOutcome::Completed) << row.name.view();
    OfClass& of = found[row.priority];
    of.wait_max = std::max(of.wait_max, row.wait);
    of.preemptions += row.preemptions;
    of.lost_gpu_h += row.gpu_s_lost / 3600;
  }
  return found;
}

TEST(ThreeClassesScenario, ResearchPaysForTheClassesAboveIt) {
  auto with = classes({});
  EXPECT_LT(with[200].wait_max, 1_min) << "the victims have half a minute to end";
  EXPECT_LT(with[100].wait_max, 1_min);
  EXPECT_EQ(with[200].preemptions + with[100].preemptions, 0);
  EXPECT_GT(with[0].preemptions, 10);
  EXPECT_GT(with[0].lost_gpu_h, 10);
  EXPECT_LT(with[0].lost_gpu_h, with[0].preemptions * 8) << "at most an hour of a pod's 8 GPUs";
  auto without = classes({"policy.plugins=[]"});
  EXPECT_GT(without[200].wait_max, 1_h);
  EXPECT_EQ(without[0].preemptions, 0);
}

}  // namespace
}  // namespace orrery
