// Runs of gangs whose roles have min_available. The gang has two parameter servers and four
// workers. To start, it needs at least one server and two workers. Every pod needs a node of its
// own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "models/scheduling/feasibility/too_large.hpp"
#include "models/workload/job/pod_row.hpp"
#include "tests/support/scheduler_world.hpp"

namespace orrery {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kServers = "{name: ps, pods: 2, min_available: 1, pod: {gpus: 8}}";
constexpr const char* kWorkers = "{name: worker, pods: 4, min_available: 2, pod: {gpus: 8}}";
constexpr const char* kStrict =
    "{base: strict_gang, plugins: [{name: StrictGang, args: {members: min_available}}]}";

std::string gang_on(int nodes, const std::string& policy, const std::string& roles) {
  return "cluster: {pools: [{name: n, machine: dgx-a100, count: " + std::to_string(nodes) +
         "}]}\npolicy: " + policy +
         "\nworkload:\n  sources:\n  - kind: jobs\n    jobs:\n    - name: train\n"
         "      work: 10min\n      gangs: [{min_available: 3, roles: [" +
         roles + "]}]\nrun: {until: 2h}\n";
}
std::string servers_first() { return std::string{kServers} + ", " + kWorkers; }
std::string workers_first() { return std::string{kWorkers} + ", " + kServers; }

// Sorted ranks of the pods that had a node at some time.
std::vector<int32_t> ranks_with_nodes(ScenarioRun& run) {
  std::vector<int32_t> ranks;
  for (const PodRow& pod : run.recorder.rows<PodRow>("/pods")) {
    if (pod.bound != kNever) ranks.push_back(pod.rank);
  }
  std::ranges::sort(ranks);
  return ranks;
}

// If pods got nodes in the order of their ranks, both servers and one worker would get the three
// nodes.
TEST(RoleMinimums, AGangPlacedAsAWholeGivesNodesToThePodsThatItsRolesNeed) {
  for (const std::string& policy :
       {std::string{kStrict}, std::string{"{base: native_gang}"},
        std::string{"{base: native_gang, plugins: [{name: KueueTopology, args: {mode: "
                    "unconstrained}}]}"}}) {
    SCOPED_TRACE(policy);
    ScenarioRun run{gang_on(3, policy, servers_first())};
    EXPECT_EQ(run.jobs().at(0).outcome, JobOutcome::Completed);
    EXPECT_EQ(run.jobs().at(0).members, 3);
    EXPECT_THAT(ranks_with_nodes(run), ElementsAre(0, 2, 3));
  }
}

// The order in which pods are placed depends on their backoffs. On three nodes the gang either
// starts with one server and two workers, or never starts.
TEST(RoleMinimums, AGangPlacedPodByPodWaitsInPermitForThePodsThatItsRolesNeed) {
  for (const char* const policy : {"{base: coscheduling}", "{base: koordinator}"}) {
    for (const bool is_server_first : {false, true}) {
      SCOPED_TRACE(policy);
      const std::string roles = is_server_first ? servers_first() : workers_first();
      const auto is_server = [&](int32_t rank) { return is_server_first ? rank < 2 : rank >= 4; };
      ScenarioRun scarce{gang_on(3, policy, roles)};
      const std::vector<int32_t> ranks = ranks_with_nodes(scarce);
      if (!ranks.empty()) {
        EXPECT_EQ(ranks.size(), 3U);
        EXPECT_EQ(std::ranges::count_if(ranks, is_server), 1);
      }
      EXPECT_EQ(scarce.jobs().at(0).outcome == JobOutcome::Completed, !ranks.empty());
      ScenarioRun enough{gang_on(5, policy, roles)};
      EXPECT_EQ(enough.jobs().at(0).outcome, JobOutcome::Completed);
      EXPECT_EQ(ranks_with_nodes(enough).size(), 5U);
    }
  }
}

// Without a gang plugin, pods are bound at once. They hold their nodes while the job waits for the
// minimums of its roles.
TEST(RoleMinimums, AJobStartsOnceItsRolesHaveTheirPods) {
  ScenarioRun three_workers{gang_on(3, "{base: default}", workers_first())};
  EXPECT_EQ(three_workers.jobs().at(0).outcome, JobOutcome::Pending);
  EXPECT_THAT(ranks_with_nodes(three_workers), ElementsAre(0, 1, 2));
  ScenarioRun with_a_server{gang_on(5, "{base: default}", workers_first())};
  EXPECT_EQ(with_a_server.jobs().at(0).outcome, JobOutcome::Completed);
  EXPECT_EQ(with_a_server.jobs().at(0).members, 5);
}

// Two large pods do not fit on the cluster together. The gang needs three of its six pods, so it
// can do without one large pod, unless the role of the large pods needs both.
TEST(RoleMinimums, AJobWhoseRoleIsTooLargeForTheClusterIsNamed) {
  JobTable jobs;
  const ClusterState cluster = gpu_nodes({8});
  TooLargeJobs large{cluster, jobs};
  JobSpec spec = make_job(JobKind::MpiGang, 2, 8, 1_h);
  spec.gangs[0].min_available = 3;
  RoleSpec workers;
  workers.pods = 4;
  spec.gangs[0].roles.push_back(workers);
  large.job_arrived(jobs.add(spec));
  EXPECT_EQ(large.jobs(), 0U);
  spec.gangs[0].roles[0].min_available = 2;
  large.job_arrived(jobs.add(spec));
  EXPECT_EQ(large.jobs(), 1U);
  EXPECT_THAT(large.first(), HasSubstr("needs 2 pods of 8 GPU"));
}

}  // namespace
}  // namespace orrery
