#include "models/workload/job/job_table.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

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

// A gang of two servers, of which one is needed, and four workers, of which two are needed.
JobSpec with_servers(int32_t min_available) {
  JobSpec job = make_job(JobKind::MpiGang, 2, 8, 1_h);
  std::vector<RoleSpec>& roles = job.gangs[0].roles;
  roles.push_back(roles[0]);
  roles[0].min_available = 1;
  roles[1].pods = 4;
  roles[1].min_available = 2;
  job.gangs[0].min_available = min_available;
  return job;
}

TEST(JobTable, AGangHasItsQuorumOnceEachRoleHasItsMinimumToo) {
  JobTable jobs;
  const JobId id = jobs.add(with_servers(3));
  const RoleId first = jobs.job(id).first_role;
  const auto has_quorum = [&](int32_t servers, int32_t workers) {
    jobs.gang({0}).bound = servers + workers;
    jobs.role(first).bound = servers;
    jobs.role({first.index + 1}).bound = workers;
    return jobs.has_quorum(id);
  };
  EXPECT_FALSE(has_quorum(0, 3)) << "no server";
  EXPECT_FALSE(has_quorum(0, 4));
  EXPECT_FALSE(has_quorum(2, 1)) << "one worker too few";
  EXPECT_FALSE(has_quorum(1, 1));
  EXPECT_TRUE(has_quorum(1, 2));
  EXPECT_TRUE(has_quorum(2, 4));
}

// The gang needs four pods. At most two of them are servers, so at least two are workers. The
// workers' own minimum of two adds nothing and becomes 0. The minimum of one server stays.
TEST(JobTable, ARoleHasNoMinimumOfItsOwnThatItsGangImplies) {
  JobTable jobs;
  const Job& job = jobs.job(jobs.add(with_servers(4)));
  EXPECT_EQ(jobs.role(job.first_role).min_available, 1);
  EXPECT_EQ(jobs.role({job.first_role.index + 1}).min_available, 0);
  EXPECT_TRUE(jobs.gang(job.first_gang).has_role_minimums);
  const Job& whole = jobs.job(jobs.add(with_servers(0)));
  EXPECT_FALSE(jobs.gang(whole.first_gang).has_role_minimums);
  EXPECT_FALSE(whole.is_elastic);
}

}  // namespace
}  // namespace orrery
