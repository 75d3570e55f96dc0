// Preemption of whole gangs by gangs that are placed as a whole: which gangs are victims, and which
// never are.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "models/workload/job/job_rows.hpp"
#include "models/workload/job/pod_row.hpp"
#include "tests/support/fake_handle.hpp"
#include "tests/support/scheduler_world.hpp"

namespace orrery {
namespace {

struct Wanted {
  int32_t priority = 0;
  Duration submit = {};
  int32_t pods = 1;
  int32_t gpus = 8;  // GPUs of each pod
  Duration work = 1000_s;
  JobKind kind = JobKind::MpiGang;
  Duration checkpoint = {};
  std::string team = {};
  bool may_preempt = true;
};

JobSpec spec_of(const Wanted& wanted) {
  JobSpec made = make_job(wanted.kind, wanted.pods, wanted.gpus, wanted.work);
  for (auto& role : made.gangs[0].roles) {
    role.spec.priority = wanted.priority;
    role.spec.may_preempt = wanted.may_preempt;
  }
  made.submitted = Time{} + wanted.submit;
  made.checkpoint_interval = wanted.checkpoint;
  made.team = wanted.team;
  return made;
}

ProfileParams gangs_of(const std::string& order, ProfileBase base = ProfileBase::StrictGang) {
  ProfileParams profile = without_cost(profile_of(base, {"GangPreemption"}));
  Diagnostics diagnostics;
  const config::Document args =
      config::load_text("{order: " + order + ", per_pod: 0s}", "args", diagnostics);
  profile.plugins[0].args = {args.root, "args"};
  return profile;
}

struct Seen {
  std::map<uint64_t, JobRow> jobs;
  std::set<uint64_t> victims;  // jobs whose pods were preempted
  std::vector<PreemptionRow> preemptions;
};

Seen seen(const std::vector<int32_t>& nodes, const std::vector<Wanted>& wanted,
          const ProfileParams& profile, const JobControllerParams& params = {}) {
  SchedulerWorld world{nodes, profile, params};
  std::vector<JobSpec> jobs;
  for (const Wanted& one : wanted) jobs.push_back(spec_of(one));
  world.add(std::move(jobs));
  world.run(Time{} + 20'000_s);
  Seen found;
  for (const JobRow& row : world.job_rows()) found.jobs[row.job] = row;
  found.preemptions = world.recorder.rows<PreemptionRow>("/events/preemptions");
  for (const PreemptionRow& row : found.preemptions) found.victims.insert(row.job);
  return found;
}

using Jobs = std::set<uint64_t>;

// If cycles take no time, victims are deleted at the instant at which the preemptor fails. At that
// instant, the preemptor cannot be popped from backoff. No later event wakes it, so it is tried
// again only when its backoff ends.
constexpr auto kFirstBackoff = "the first backoff of 1 s ends";

TEST(GangPreemption, TakesTheRoomOfAWholeGang) {
  const Seen run =
      seen({8, 8}, {{.pods = 2}, {.priority = 5, .submit = 10_s, .pods = 2}}, gangs_of("fewest"));
  EXPECT_EQ(run.victims, Jobs{0});
  EXPECT_EQ(run.preemptions.size(), 2U) << "each pod of the gang";
  EXPECT_EQ(run.jobs.at(1).running, Time{} + 11_s) << kFirstBackoff;
  EXPECT_EQ(run.jobs.at(0).outcome, JobOutcome::Completed) << "it starts again later";
  EXPECT_EQ(run.jobs.at(0).preemptions, 2);
  EXPECT_DOUBLE_EQ(run.jobs.at(0).gpu_s_lost, 16 * 10.0);
}

// The preempting attempt makes three plans of 5 ms each. The first plan is for the cluster as it
// is, the second for the cluster without any gang of lower priority, and the third for the cluster
// without the chosen victims. Then the scheduler is idle, and pops the preemptor from backoff.
TEST(GangPreemption, AnIdleSchedulerTriesThePreemptorAgainAtOnce) {
  ProfileParams profile = gangs_of("fewest");
  profile.cost.per_cycle = 5_ms;
  const Seen run = seen({8, 8}, {{.pods = 2}, {.priority = 5, .submit = 10_s, .pods = 2}}, profile);
  EXPECT_EQ(run.jobs.at(1).running, Time{} + 10_s + 15_ms + 5_ms);
}

TEST(GangPreemption, EvictsNoneIfThatWouldNotHelp) {
  const Seen run = seen({8, 8, 8},
                        {{.pods = 1},
                         {.priority = 9, .pods = 2, .work = 5000_s},
                         {.priority = 5, .submit = 10_s, .pods = 2}},
                        gangs_of("fewest"));
  EXPECT_TRUE(run.preemptions.empty());
  EXPECT_EQ(run.jobs.at(2).running, Time{} + 5000_s);
}

TEST(GangPreemption, EqualPriorityIsNeverPreempted) {
  const Seen run = seen({8, 8}, {{.priority = 5, .pods = 2}, {.priority = 5, .submit = 10_s}},
                        gangs_of("fewest"));
  EXPECT_TRUE(run.preemptions.empty());
}

TEST(GangPreemption, AGangThatMayNotPreemptWaits) {
  const Seen run =
      seen({8, 8}, {{.pods = 2}, {.priority = 5, .submit = 10_s, .pods = 2, .may_preempt = false}},
           gangs_of("fewest"));
  EXPECT_TRUE(run.preemptions.empty());
  EXPECT_EQ(run.jobs.at(1).running, Time{} + 1000_s);
}

// The last job needs two nodes. Evicting job 1 or job 2 alone frees two nodes. Evicting jobs 0 and
// 3 together would free two nodes, too.
const std::vector<Wanted> kOneIsEnough{{.pods = 1},
                                       {.pods = 2, .checkpoint = 500_s},
                                       {.submit = 400_s, .pods = 2, .checkpoint = 500_s},
                                       {.submit = 590_s, .pods = 1},
                                       {.priority = 5, .submit = 600_s, .pods = 2}};

TEST(GangPreemption, FewestTakesOneGangThatLosesLeast) {
  const Seen run = seen({8, 8, 8, 8, 8, 8}, kOneIsEnough, gangs_of("fewest"));
  EXPECT_EQ(run.victims, Jobs{1}) << "100 s since its checkpoint; the other lost 200 s";
}

TEST(GangPreemption, VolcanoTakesTheGangsCreatedLast) {
  const Seen run = seen({8, 8, 8, 8, 8, 8}, kOneIsEnough, gangs_of("volcano"));
  EXPECT_EQ(run.victims, Jobs{2}) << "3 and 2 are gathered, and 3 is spared";
}

TEST(GangPreemption, VolcanoTakesLowerPriorityFirst) {
  const Seen run = seen(
      {8, 8}, {{.priority = 1}, {.priority = 2, .submit = 10_s}, {.priority = 5, .submit = 20_s}},
      gangs_of("volcano"));
  EXPECT_EQ(run.victims, Jobs{0});
}

TEST(GangPreemption, KueueTakesOtherTeamsFirstThenThoseLastPlaced) {
  const std::vector<Wanted> jobs{{.team = "theirs"},
                                 {.submit = 5_s, .team = "theirs"},
                                 {.submit = 10_s, .team = "ours"},
                                 {.priority = 5, .submit = 20_s, .team = "ours"}};
  EXPECT_EQ(seen({8, 8, 8}, jobs, gangs_of("kueue")).victims, Jobs{1});
  EXPECT_EQ(seen({8, 8, 8}, jobs, gangs_of("volcano")).victims, Jobs{2});
}

TEST(GangPreemption, TakesALargeGangAndASmallOneThatLostLittle) {
  const Seen run = seen({8, 8, 8, 8, 8},
                        {{.pods = 2},
                         {.pods = 2},
                         {.submit = 90_s, .pods = 1},
                         {.priority = 5, .submit = 100_s, .pods = 3}},
                        gangs_of("fewest"));
  EXPECT_EQ(run.victims, (Jobs{0, 2})) << "two gangs in any case, and the small one lost little";
}

// The last job needs four nodes. Jobs 0 to 3 would lose 2,400, 1,440, 1,200 and 40 GPU s. Evicting
// 0 and 3 loses 2,440, less than 1 and 2 with 2,640. Four gangs have only six pairs, so the policy
// tries all pairs. The exchange of victims, which is used for many gangs, would choose 1 and 2.
TEST(GangPreemption, OfFewGangsFewestFindsTheChoiceThatLosesLeast) {
  const Seen run = seen({8, 8, 8, 8, 8, 8, 8, 8},
                        {{.submit = 100_s, .pods = 3},
                         {.submit = 110_s, .pods = 2},
                         {.submit = 125_s, .pods = 2},
                         {.submit = 195_s, .pods = 1},
                         {.priority = 5, .submit = 200_s, .pods = 4}},
                        gangs_of("fewest"));
  EXPECT_EQ(run.victims, (Jobs{0, 3}));
}

// 15 gangs have 105 pairs, too many to try all. The policy first chooses the two large gangs as
// victims, then replaces one of them by a small gang.
TEST(GangPreemption, OfManyGangsFewestExchangesVictims) {
  std::vector<Wanted> wanted{{.pods = 2}, {.pods = 2}};
  for (int i = 0; i < 13; ++i) wanted.push_back({.submit = i == 12 ? 90_s : 80_s});
  wanted.push_back({.priority = 5, .submit = 100_s, .pods = 3});
  const Seen run = seen(std::vector<int32_t>(17, 8), wanted, gangs_of("fewest"));
  EXPECT_EQ(run.victims, (Jobs{0, 14})) << "the small gang that was submitted last";
}

TEST(GangPreemption, LonePodsAreGangsOfOne) {
  const Seen run = seen({8, 8},
                        {{.pods = 2, .kind = JobKind::Pods},
                         {.priority = 5, .submit = 10_s, .kind = JobKind::MpiGang}},
                        gangs_of("fewest"));
  EXPECT_EQ(run.victims, Jobs{0});
  EXPECT_EQ(run.preemptions.size(), 1U) << "the other pod of the job computes on";
}

TEST(GangPreemption, TheRoomIsKeptWhileVictimsTerminate) {
  JobControllerParams params;
  params.termination = 30_s;
  const Seen run = seen({8, 8},
                        {{.pods = 2},
                         {.priority = 5, .submit = 10_s, .pods = 2},
                         {.priority = 4, .submit = 15_s},
                         {.priority = 5, .submit = 20_s}},
                        gangs_of("fewest"), params);
  EXPECT_EQ(run.victims, Jobs{0}) << "the others wait, and preempt nobody";
  EXPECT_EQ(run.preemptions.size(), 2U);
  EXPECT_EQ(run.jobs.at(1).running, Time{} + 40_s);
}

TEST(GangPreemption, AGangOfHigherPriorityTakesRoomThatIsKeptForOthers) {
  JobControllerParams params;
  params.termination = 30_s;
  const Seen run = seen({8, 8},
                        {{.pods = 2},
                         {.priority = 5, .submit = 10_s, .pods = 2},
                         {.priority = 9, .submit = 15_s, .pods = 2}},
                        gangs_of("fewest"), params);
  EXPECT_EQ(run.preemptions.size(), 2U) << "no pod is preempted twice";
  EXPECT_EQ(run.jobs.at(2).running, Time{} + 40_s);
  EXPECT_EQ(run.jobs.at(1).running, Time{} + 1040_s);
}

ProfileParams planned() {
  ProfileParams profile = gangs_of("fewest");
  PluginParams tree;
  tree.name = "SlurmTopologyTree";
  profile.plugins.push_back(tree);
  return profile;
}

TEST(GangPreemption, PlansOfWholeGangsForeseeThatVictimsLeave) {
  const Seen run =
      seen({8, 8}, {{.pods = 2}, {.priority = 5, .submit = 10_s, .pods = 2}}, planned());
  EXPECT_EQ(run.victims, Jobs{0});
  EXPECT_EQ(run.jobs.at(1).running, Time{} + 11_s) << kFirstBackoff;
}

// Job 2 needs nodes 0 and 1, and preempts jobs 0 and 1, whose grace period ends at 40 s. Job 0
// completes at 12 s. From then on node 0 is idle, but reserved for job 2. So job 3 must be planned
// on the small node.
TEST(GangPreemption, PlansOfWholeGangsLeaveTheRoomThatIsKeptForOthers) {
  JobControllerParams params;
  params.termination = 30_s;
  const Seen run = seen({8, 8, 4},
                        {{.work = 12_s},
                         {},
                         {.priority = 5, .submit = 10_s, .pods = 2},
                         {.submit = 15_s, .gpus = 4, .work = 10_s}},
                        planned(), params);
  EXPECT_EQ(run.jobs.at(2).running, Time{} + 40_s);
  EXPECT_EQ(run.jobs.at(3).running, Time{} + 15_s);
}

TEST(GangPreemption, WorksWithKubernetesOwnGangs) {
  const Seen run = seen({8, 8}, {{.pods = 2}, {.priority = 5, .submit = 10_s, .pods = 2}},
                        gangs_of("fewest", ProfileBase::NativeGang));
  EXPECT_EQ(run.victims, Jobs{0});
  EXPECT_EQ(run.jobs.at(1).running, Time{} + 11_s) << kFirstBackoff;
}

TEST(GangPreemption, RolesArePlacedTogether) {
  JobSpec two = spec_of({.priority = 5, .submit = 10_s, .pods = 1});
  two.gangs[0].roles.push_back(two.gangs[0].roles[0]);
  two.gangs[0].roles[1].spec.gpus = 4;
  two.gangs[0].roles[1].pods = 2;
  two.gangs[0].min_available = 3;
  SchedulerWorld world{{8, 8}, gangs_of("fewest")};
  world.add({spec_of({.pods = 1}), spec_of({.pods = 2, .gpus = 4}), two});
  world.run(Time{} + 100_s);
  EXPECT_EQ(world.recorder.rows<PreemptionRow>("/events/preemptions").size(), 3U);
  EXPECT_EQ(world.cluster.gpu_milli_allocated(), 16 * kMilli);
}

// Job 2 preempts job 1 while the pods of job 1 are being bound. The first pod is deleted before its
// binding, and is recreated while the third pod still terminates. The recreated pod would fit
// beside job 0, but must wait until the third pod has ended.
TEST(GangPreemption, AGangIsPlacedAgainOnceAllOfItHasLeft) {
  ScenarioRun run{R"(
cluster:
  machines: [{name: box, base: hgx-h100, gpus: 4}]
  pools: [{name: n, machine: box, count: 3}]
workload:
  controller: {termination: 30s}
  sources:
    - kind: jobs
      jobs:
        - {kind: mpi_gang, work: 1000s, priority: 9, pod: {gpus: 2}}
        - {kind: mpi_gang, submit: 10s, work: 200s, pods: 3, pod: {gpus: 2}}
        - {kind: mpi_gang, submit: 11500ms, work: 100s, priority: 5, pods: 2, pod: {gpus: 4}}
control_plane: {level: full, clients: {scheduler: {qps: 2, burst: 1}}}
policy: {base: strict_gang, plugins: [{name: GangPreemption}], cost: {bind: 3200ms}}
run: {until: 10min}
)"};
  std::vector<Time> bound;
  Time gone;
  for (const PodRow& life : run.recorder.rows<PodRow>("/pods")) {
    if (life.job != 1) continue;
    if (life.end == PodEnd::Preempted) gone = std::max(gone, life.ended);
    if (life.end == PodEnd::Completed) bound.push_back(life.bound);
  }
  ASSERT_EQ(bound.size(), 3U);
  EXPECT_GT(gone, Time{} + 40_s) << "its third pod has had containers, which take 30 s to end";
  EXPECT_GT(*std::ranges::min_element(bound), gone);
  EXPECT_LT(*std::ranges::max_element(bound) - *std::ranges::min_element(bound), 2_s);
}

TEST(GangPreemption, NeedsTheDriverOfWholeGangs) {
  Diagnostics diagnostics;
  check_profile(profile_of(ProfileBase::Default, {"GangPreemption"}), "policy", {}, diagnostics);
  EXPECT_NE(diagnostics.text().find("needs driver: per_gang"), std::string::npos);
}

}  // namespace
}  // namespace orrery
