// Pods that preempt others: victims, preemptors, nominated nodes, and costs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "models/workload/job/job_rows.hpp"
#include "models/workload/job/pod_row.hpp"
#include "models/workload/job/recovery_row.hpp"
#include "tests/support/fake_handle.hpp"
#include "tests/support/scheduler_world.hpp"

namespace orrery {
namespace {

using ::testing::HasSubstr;

JobSpec job(int32_t priority, Duration submit, int32_t gpus, Duration work, int32_t pods = 1,
            JobKind kind = JobKind::Pods) {
  JobSpec made = make_job(kind, pods, gpus, work);
  made.gangs[0].roles[0].spec.priority = priority;
  made.submitted = Time{} + submit;
  return made;
}

// Tolerance (seconds or GPU seconds) for the time that DefaultPreemption takes in the scheduler.
constexpr double kShort = 0.001;

ProfileParams profile() { return without_cost(profile_of(ProfileBase::Default)); }

std::vector<PodRow> pods(SchedulerWorld& world) {
  world.recorder.flush_all();
  return world.recorder.rows<PodRow>("/pods");
}
std::vector<PreemptionRow> preemptions(SchedulerWorld& world) {
  world.recorder.flush_all();
  return world.recorder.rows<PreemptionRow>("/events/preemptions");
}

TEST(Preemption, APodTakesTheNodeOfOneOfLowerPriority) {
  SchedulerWorld world{{8}, profile()};
  world.add({job(0, 0_s, 8, 100_s), job(5, 10_s, 8, 20_s)});
  world.run();
  const auto rows = world.job_rows();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].job, 1U);
  EXPECT_NEAR((rows[0].running - Time{}).seconds(), 10, kShort) << "nobody else is in line";
  EXPECT_EQ(rows[1].preemptions, 1);
  EXPECT_EQ(rows[1].restarts, 0);
  EXPECT_NEAR((rows[1].ended - Time{}).seconds(), 130, kShort) << "it starts from the beginning";
  EXPECT_NEAR(rows[1].gpu_s_lost, 8 * 10.0, kShort);
  EXPECT_EQ(world.controller.counters().pods_preempted, 1U);
  EXPECT_NEAR(GpuTime::seconds(world.controller.counters().gpu_lost_preempted), 80.0, kShort);
  EXPECT_EQ(pods(world).at(0).end, PodEnd::Preempted);
  const auto logged = preemptions(world);
  ASSERT_EQ(logged.size(), 1U);
  EXPECT_EQ(logged[0].at, Time{} + 10_s + Duration{1'040 + 430}) << "at the end of the cycle";
  EXPECT_EQ(logged[0].job, 0U);
  EXPECT_EQ(logged[0].by_job, 1U);
  EXPECT_EQ(logged[0].by_priority, 5);
  const auto attempts = world.attempts();
  const auto failed = std::ranges::find(attempts, 1U, &AttemptRow::victims);
  ASSERT_NE(failed, attempts.end());
  EXPECT_EQ(failed->outcome, AttemptOutcome::Unschedulable);
  EXPECT_EQ(failed->nominated, NodeId{0});
  EXPECT_EQ(world.cluster.gpu_milli_allocated(), 0);
  EXPECT_GT(mark_count("scheduling.nominated_node_first"), 0U);
}

TEST(Preemption, FindsRoomWhereAVictimHasEndedInTheMeantime) {
  const uint64_t before = mark_count("scheduling.victim_gone_already");
  ProfileParams slow = profile();
  slow.cost.per_cycle = 2_s;
  SchedulerWorld world{{8}, slow};
  world.add({job(0, 0_s, 8, 10_s), job(5, 11_s, 8, 10_s)});  // job 0 runs from 2 s to 12 s
  world.run();
  EXPECT_GT(mark_count("scheduling.victim_gone_already"), before);
  for (const JobRow& row : world.job_rows()) EXPECT_EQ(row.outcome, JobOutcome::Completed);
  EXPECT_EQ(world.controller.counters().pods_preempted, 0U);
}

// The cycle that preempts lasts from 10 s to 12 s. The victim's deletion would begin at 12 s, but
// the profile changes at 11 s.
TEST(Preemption, OrdersOfAnEarlierProfileAreDropped) {
  const uint64_t before = mark_count("scheduling.evictions_dropped");
  ProfileParams slow = profile();
  slow.cost.per_cycle = 2_s;
  ProfileParams gentle = slow;
  gentle.disable = {"DefaultPreemption"};
  SchedulerWorld world{{8}, slow};
  world.add({job(0, 0_s, 8, 100_s), job(5, 10_s, 8, 20_s)});
  world.at(Time{} + 11_s, [&] {
    EXPECT_EQ(world.scheduler.pods_preempted(), 1U);
    world.scheduler.change_profile(gentle);
  });
  world.run();
  EXPECT_GT(mark_count("scheduling.evictions_dropped"), before);
  EXPECT_EQ(world.scheduler.pods_preempted(), 0U);
  EXPECT_FALSE(world.scheduler.is_preempting());
  EXPECT_TRUE(preemptions(world).empty());
  const auto rows = world.job_rows();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].job, 0U);
  EXPECT_EQ(rows[0].preemptions, 0);
  EXPECT_GE(rows[1].running, rows[0].ended);
}

// An API that acts at once, but refuses the first deletion of a pod.
class Unwilling final : public PodApi {
 public:
  void create(PodId /*pod*/, Reply reply) override {
    reply(Creation::Answered);
    reply(Creation::Known);
  }
  void bind(PodId /*pod*/, NodeId /*node*/, Done done) override { done(true); }
  void start(PodId /*pod*/, NodeId /*node*/, Started started) override { started({}); }
  void evict(PodId /*pod*/, Reply reply) override {
    reply(Creation::Answered);
    reply(asked++ == 0 ? Creation::Refused : Creation::Known);
  }
  void nominated(PodId /*pod*/) override {}
  void scheduling_failed(PodId /*pod*/) override {}
  void removed(PodId /*pod*/, NodeId /*node*/, Observed observed) override {
    if (observed) observed();
  }
  int asked = 0;
};

TEST(Preemption, IsTriedAgainIfTheServersRefuseIt) {
  const uint64_t before = mark_count("scheduling.preemption_refused");
  Unwilling api;
  SchedulerWorld world{{8}, profile()};
  world.controller.use(api);
  world.scheduler.use(api);
  world.add({job(0, 0_s, 8, 100_s), job(5, 10_s, 8, 20_s)});
  world.run();
  EXPECT_GT(mark_count("scheduling.preemption_refused"), before);
  EXPECT_EQ(api.asked, 2);
  EXPECT_EQ(world.job_rows().at(0).job, 1U);
  EXPECT_LT(world.job_rows().at(0).running, Time{} + 15_s);
  EXPECT_EQ(world.controller.counters().pods_preempted, 1U);
}

TEST(Preemption, NobodyGoesForOneOfEqualPriority) {
  SchedulerWorld world{{8}, profile()};
  world.add({job(5, 0_s, 8, 100_s), job(5, 10_s, 8, 20_s), job(-5, 10_s, 8, 20_s)});
  world.run();
  EXPECT_EQ(world.scheduler.pods_preempted(), 0U);
}

TEST(Preemption, TakesAsFewAndAsUnimportantPodsAsItCan) {
  SchedulerWorld world{{8, 8}, profile()};
  // Sixteen pods of one GPU, of priority 1 and 2 in turn, fill both nodes.
  std::vector<JobSpec> jobs;
  // This job fills n0 for 1 s, so the first eight pods go to n1.
  jobs.push_back(job(3, 0_s, 8, 1_s));
  for (int i = 0; i < 16; ++i) jobs.push_back(job(i % 2 + 1, 0_s, 1, 1000_s));
  jobs.push_back(job(9, 10_s, 3, 10_s));
  world.add(jobs);
  world.run(Time{} + 15_s);
  const auto logged = preemptions(world);
  ASSERT_EQ(logged.size(), 3U);
  for (const PreemptionRow& row : logged) {
    EXPECT_EQ(row.priority, 1);
    EXPECT_EQ(row.node, logged[0].node);
  }
}

// Nodes 1 and 2 have one victim each, of equal priority. The scheduler chooses the node whose
// victim started last.
TEST(Preemption, TakesTheNodeThatKubernetesWould) {
  SchedulerWorld world{{8, 8, 8}, profile()};
  world.add({job(2, 0_s, 8, 1000_s), job(1, 1_s, 8, 1000_s), job(1, 2_s, 8, 1000_s),
             job(9, 10_s, 8, 10_s), job(9, 20_s, 8, 1000_s), job(9, 20_s, 8, 1000_s)});
  world.run(Time{} + 30_s);
  std::vector<uint64_t> victims;
  for (const PreemptionRow& row : preemptions(world)) victims.push_back(row.job);
  ASSERT_GE(victims.size(), 2U);
  EXPECT_EQ(victims[0], 2U);
  EXPECT_EQ(victims[1], 1U);
}

TEST(Preemption, AGangStartsAgainAndThatIsNoFailure) {
  SchedulerWorld world{{8, 8}, profile()};
  JobSpec gang = job(0, 0_s, 8, 100_s, 2, JobKind::MpiGang);
  gang.checkpoint_interval = 30_s;
  gang.restarts_max = 0;
  world.add({gang, job(5, 40_s, 8, 20_s)});
  world.run();
  const auto rows = world.job_rows();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[1].outcome, JobOutcome::Completed);
  EXPECT_EQ(rows[1].preemptions, 1);
  EXPECT_EQ(rows[1].restarts, 0);
  EXPECT_NEAR(rows[1].gpu_s_lost, 16 * 10.0, kShort);
  EXPECT_NEAR(rows[1].gpu_s_hung, 8 * 5.0, kShort) << "the other rank, until it is noticed";
  std::multiset<PodEnd> ends;
  for (const PodRow& row : pods(world)) ends.insert(row.end);
  EXPECT_EQ(ends.count(PodEnd::Preempted), 1U);
  EXPECT_EQ(ends.count(PodEnd::GangStopped), 1U);
  const auto recoveries = world.recorder.rows<RecoveryRow>("/events/recoveries");
  ASSERT_EQ(recoveries.size(), 1U);
  EXPECT_TRUE(recoveries[0].is_preemption);
  EXPECT_FALSE(recoveries[0].node.is_valid());
  EXPECT_NEAR((recoveries[0].detected - Time{}).seconds(), 45, kShort);
}

TEST(Preemption, WaitsForPodsThatTakeTimeToEndAndKeepsTheirRoom) {
  SchedulerWorld world{{8, 8}, profile(), {.termination = 60_s}};
  // Short pods of one GPU end again and again, so all waiting pods are retried.
  world.add({job(1, 0_s, 7, 1000_s), job(1, 0_s, 7, 1000_s), job(7, 0_s, 1, 5_s, 2),
             job(9, 10_s, 7, 100_s), job(1, 12_s, 1, 1_s, 4), job(1, 65_s, 7, 10_s)});
  world.run(Time{} + 150_s);
  const auto logged = preemptions(world);
  ASSERT_EQ(logged.size(), 1U) << "one that is nominated waits";
  for (const PodRow& row : pods(world)) {
    if (row.job == logged[0].job && row.end == PodEnd::Preempted) {
      EXPECT_NEAR((row.ended - Time{}).seconds(), 70, kShort);
    }
  }
  world.controller.finish(Time{} + 150_s);
  for (const JobRow& row : world.job_rows()) {
    if (row.job == 3) {
      EXPECT_GE(row.running, Time{} + 70_s);
      EXPECT_LE(row.running, Time{} + 71_s);
    }
  }
}

TEST(Preemption, IsChargedForNodesAndPodsThatAreLookedAt) {
  for (const bool has_lower : {false, true}) {
    ProfileParams priced = profile();
    SchedulerWorld world{{8, 8, 8}, priced};
    world.add({job(has_lower ? 1 : 2, 0_s, 4, 1000_s, 6), job(2, 10_s, 8, 1000_s)});
    world.run(Time{} + 10_s);
    const Duration expected = Duration{1'040} * 3 + Duration{430} * 6;
    EXPECT_EQ(world.scheduler.counters().busy, has_lower ? expected : Duration{});
  }
}

TEST(Preemption, RefusesArgumentsWithoutEffect) {
  EXPECT_EQ(orrery::complaints("DefaultPreemption", "{async: false}"), "");
  EXPECT_THAT(orrery::complaints("DefaultPreemption",
                                 "{minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: 0}"),
              HasSubstr("must not be 0"));
}

TEST(Nominations, LeaveRoomForThoseThatDoNotComeBehindThem) {
  FakeHandle handle;
  Resources has;
  has[Resource::Cpu] = 8'000;
  has[Resource::Gpu] = 8 * kMilli;
  const NodeId node = handle.add_node(has);
  handle.state.seal();
  PodSpec spec;
  spec.gpus = 6;
  spec.priority = 5;
  const PodView claims = handle.add_pod(spec);
  Nominations nominations{1};
  nominations.set({.pod = claims.id,
                   .priority = 5,
                   .asked = spec.requests(),
                   .whole_gpus = 6,
                   .is_tried_first = true},
                  node);
  const auto leaves = [&](int32_t priority, int32_t gpus, int64_t cpus) {
    PodSpec asks;
    asks.priority = priority;
    asks.gpus = gpus;
    asks.cpu_milli = cpus;
    return nominations.leave_room(handle.state, handle.add_pod(asks), node);
  };
  EXPECT_TRUE(leaves(5, 2, 8'000));
  EXPECT_FALSE(leaves(5, 3, 0));
  EXPECT_FALSE(leaves(4, 3, 0));
  EXPECT_TRUE(leaves(6, 8, 0)) << "more important ones come first";
  EXPECT_TRUE(nominations.leave_room(handle.state, claims, node)) << "it is its own";
  EXPECT_EQ(nominations.first_choice(claims.id), node);
  nominations.clear(claims.id);
  EXPECT_TRUE(leaves(4, 3, 0));
  EXPECT_TRUE(nominations.empty());
}

TEST(Preemption, AGangThatFitsTakesNoMoreThanItNeeds) {
  ScenarioRun run{
      "cluster: {pools: [{name: n, machine: dgx-a100, count: 2}]}\n"
      "policy: {base: coscheduling, plugins: [{name: DefaultPreemption}]}\n"
      "workload:\n  sources:\n    - kind: jobs\n      jobs:\n"
      "        - {kind: pods, work: 5h, pod: {gpus: 8}}\n"
      "        - {kind: mpi_gang, submit: 60s, pods: 2, work: 10min, pod: {gpus: 8}, priority: 5}\n"
      "        - {kind: pods, submit: 60s, count: 4, work: 1h, pod: {gpus: 8}}\n"
      "run: {until: 20min}\n"};
  EXPECT_EQ(run.recorder.rows<PreemptionRow>("/events/preemptions").size(), 1U);
  int done = 0;
  for (const JobRow& row : run.jobs()) {
    done += row.priority == 5 && row.outcome == JobOutcome::Completed ? 1 : 0;
  }
  EXPECT_EQ(done, 1);
}

// Each of the 120 other pods has a spec of its own. So the table of specs grows and moves in memory
// while the preemptor waits for its node.
TEST(Preemption, RoomIsKeptWhateverComesMeanwhile) {
  std::string yaml =
      "cluster: {pools: [{name: n, machine: dgx-a100, count: 1}]}\n"
      "workload:\n  controller: {termination: 5min}\n  sources:\n    - kind: jobs\n      jobs:\n"
      "        - {name: victim, kind: pods, work: 5h, pod: {gpus: 8}}\n"
      "        - {name: urgent, kind: pods, submit: 1min, work: 10min, pod: {gpus: 8}, priority: "
      "5}\n";
  for (int cpus = 1; cpus <= 120; ++cpus) {
    yaml += "        - {name: other, kind: pods, submit: 2min, work: 1h, pod: {gpus: 8, cpus: " +
            std::to_string(cpus) + "}}\n";
  }
  ScenarioRun run{yaml + "run: {until: 15min}\n"};
  for (const JobRow& row : run.jobs()) {
    if (row.priority == 5) {
      EXPECT_NEAR(row.wait.seconds(), 300, 5);
    } else {
      EXPECT_NE(row.outcome, JobOutcome::Completed);
    }
  }
  EXPECT_EQ(run.recorder.rows<PreemptionRow>("/events/preemptions").size(), 1U);
}

// How long the scheduler is busy in a run with one preemption. With a control plane, the scheduler
// requests the deletion of the victim. The cycle waits for the response unless `is_async`.
double busy(const std::string& level, bool is_async) {
  ScenarioRun run{
      "cluster: {pools: [{name: n, machine: dgx-a100, count: 2}]}\n"
      "policy: {plugins: [{name: DefaultPreemption, args: {async: " +
      std::string{is_async ? "true" : "false"} +
      "}}]}\n"
      "control_plane: {level: " +
      level +
      "}\nworkload:\n  sources:\n    - kind: jobs\n      jobs:\n"
      "        - {kind: pods, pods: 2, work: 1h, pod: {gpus: 8}}\n"
      "        - {kind: pods, submit: 10min, work: 10min, pod: {gpus: 8}, priority: 1}\n"
      "run: {until: 30min}\n"};
  EXPECT_EQ(run.jobs().at(0).outcome, JobOutcome::Completed);
  EXPECT_LT(run.jobs().at(0).wait, 3_s);
  const auto logged = run.recorder.rows<PreemptionRow>("/events/preemptions");
  EXPECT_EQ(logged.size(), 1U);
  for (const SummaryValue& value : run.result.summary) {
    if (value.name == "scheduler_busy") return std::get<double>(value.value);
  }
  return -1;
}
TEST(Preemption, TheCycleWaitsForTheServersUnlessItIsAsynchronous) {
  for (const std::string level : {"delays", "full"}) {
    SCOPED_TRACE(level);
    const double waited = busy(level, false) - busy(level, true);
    EXPECT_GT(waited, 0.001);
    EXPECT_LT(waited, 0.1);
  }
}

}  // namespace
}  // namespace orrery
