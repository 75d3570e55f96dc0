// PreFilter: its cost, its order before Filter, and its results for members of gangs.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "models/scheduling/framework/framework.hpp"
#include "models/workload/job/job_rows.hpp"
#include "models/workload/job/pod_row.hpp"
#include "models/workload/job/recovery_row.hpp"
#include "tests/support/fake_handle.hpp"
#include "tests/support/scheduler_world.hpp"

namespace orrery {
namespace {

const std::string kSpread =
    "{name: PodTopologySpread, args: {defaultConstraints: [{maxSkew: 1, topologyKey: hostname, "
    "whenUnsatisfiable: DoNotSchedule}]}}";

std::string scenario(const std::string& base, const std::string& plugin, int nodes,
                     const std::string& job, const std::string& more = "") {
  return "cluster: {pools: [{name: n, machine: dgx-1v, count: " + std::to_string(nodes) +
         "}]}\nworkload: {controller: {}, sources: [{kind: jobs, jobs: [{name: a, " + job +
         "}]}]}\npolicy: {base: " + base + ", plugins: [" + plugin +
         "]}\nrecord: {attempts: true}\nrun: {until: 10min}\n" + more;
}

struct CoschedulingRig {
  CoschedulingRig() {
    handle.add_node({});
    handle.state.seal();
    GangView gang;
    gang.id = {0};
    gang.min_available = gang.pods = 2;
    gang.created = 1;
    handle.add_gang(gang);
  }
  FakeHandle handle;
};

TEST(PreFilter, OfAPolicyThatIsNotReachedCostsNothing) {
  CoschedulingRig rig;
  ProfileParams profile = profile_of(ProfileBase::Coscheduling, {"InterPodAffinity"});
  const Nominations none{1};
  Framework framework{rig.handle, none, profile};
  PodSpec spec;
  spec.labels = {{"app", "web"}};
  spec.anti_affinity = {{PodTopology::Hostname, spec.labels}};
  const PodView member = rig.handle.add_pod(spec, {0}, {0});
  const Cycle early = rig.handle.cycle(member);
  EXPECT_EQ(framework.find_node(early, nullptr).reason, "fewer pods in the gang than minMember");
  EXPECT_EQ(framework.charge(early), Duration{});
  EXPECT_TRUE(framework.diagnose(early, nullptr, true).rejections().empty());
  rig.handle.gangs[{0}].created = 2;
  const Cycle cycle = rig.handle.cycle(member);
  EXPECT_EQ(framework.find_node(cycle, nullptr).node, (NodeId{0}));
  EXPECT_EQ(framework.charge(cycle), Duration{2'000}) << "for the node, as it has a term";
}

TEST(PreFilter, IsAskedBeforeTheFiltersOfAGangThatIsTooLarge) {
  for (const std::string base : {"strict_gang", "native_gang"}) {
    for (const std::string& plugin : {std::string{"{name: InterPodAffinity}"}, kSpread}) {
      SCOPED_TRACE(base + " " + plugin);
      ScenarioRun run{scenario(base, plugin, 1, "work: 10s, pods: 2, pod: {gpus: 8}")};
      EXPECT_EQ(run.jobs().at(0).outcome, JobOutcome::Pending);
    }
  }
}

TEST(PreFilter, MayRejectMembersThatComeOneByOne) {
  for (const std::string& plugin : {std::string{"{name: InterPodAffinity}"}, kSpread}) {
    SCOPED_TRACE(plugin);
    ScenarioRun run{scenario("coscheduling", plugin, 4, "work: 10s, pods: 4, pod: {gpus: 8}",
                             "control_plane: {level: full}\n")};
    EXPECT_EQ(run.jobs().at(0).outcome, JobOutcome::Completed);
  }
}

TEST(PodTopologySpread, CountsTheMembersOfAGangThatIsPlacedAsAWhole) {
  for (const std::string base : {"default", "strict_gang", "native_gang"}) {
    SCOPED_TRACE(base);
    ScenarioRun run{scenario(base, kSpread, 3, "work: 1h, pods: 6, pod: {gpus: 1}")};
    std::map<uint32_t, int> pods;
    for (const PodRow& pod : run.recorder.rows<PodRow>("/pods")) ++pods[pod.node.index];
    EXPECT_EQ(pods, (std::map<uint32_t, int>{{0, 2}, {1, 2}, {2, 2}}));
  }
}

}  // namespace
}  // namespace orrery
