#include "models/workload/job/job_table.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "tests/support/job_world.hpp"

namespace orrery {
namespace {

TEST(JobTable, WhatAJobAsksForInAllEndsAtTheLargestInteger) {
  JobSpec large = make_job(JobKind::Pods, 2'000'000, 8, 1_h);
  large.gangs[0].roles[0].spec.memory_bytes = kNodeMemoryMax.count;
  JobTable jobs;
  const Resources& demand = jobs.job(jobs.add_counted(large)).demand;
  EXPECT_EQ(demand[Resource::Memory], std::numeric_limits<int64_t>::max());
  EXPECT_EQ(demand[Resource::Gpu], 16'000'000 * kMilli);
}

}  // namespace
}  // namespace orrery
