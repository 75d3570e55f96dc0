// The loop of the Scheduler: it calls the policies and applies their decisions to the cluster.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "models/scheduling/contract/policy_registry.hpp"
#include "tests/support/scheduler_world.hpp"

namespace orrery {
namespace {

ProfileParams profile_from(std::string_view yaml) {
  Diagnostics diagnostics;
  const auto document = config::load_text(yaml, "profile.yaml", diagnostics);
  ProfileParams profile = read_params<ProfileParams>(document.root, "policy", diagnostics);
  EXPECT_TRUE(diagnostics.ok()) << diagnostics.text();
  return without_cost(std::move(profile));
}

std::vector<AttemptRow> rows_with(const std::vector<AttemptRow>& rows, AttemptOutcome outcome) {
  std::vector<AttemptRow> found;
  std::ranges::copy_if(rows, std::back_inserter(found),
                       [&](const AttemptRow& row) { return row.outcome == outcome; });
  return found;
}

JobSpec at(Duration submit, JobSpec job) {
  job.submitted = Time{} + submit;
  return job;
}

// ---- events

class RefusesReserve final : public Policy, public Reserve, public EventHints {
 public:
  using Params = NoParams;
  RefusesReserve(Handle& /*handle*/, const Params& /*params*/) {}
  Status reserve(const Cycle& /*cycle*/, NodeId /*node*/) override {
    return {Code::Unschedulable, "refused"};
  }
  void unreserve(const PodView& /*pod*/, NodeId /*node*/) override {}
  ClusterEvents events() const override {
    return bit_of(ClusterEventKind::AssignedPodAdded) |
           bit_of(ClusterEventKind::AssignedPodDeleted);
  }
};
const PolicyRegistrar<RefusesReserve> kRefusesReserve{"RefusesReserve", "Lets no pod reserve."};

TEST(Scheduler, APodIsNotWokenByTheLossOfItsOwnReservation) {
  SchedulerWorld world{{1}, profile_from("{plugins: [{name: RefusesReserve}]}")};
  world.add({make_job(JobKind::Pods, 1, 1, 1_h)});
  world.run(Time{} + 200_s);
  EXPECT_EQ(world.scheduler.counters().attempts, 1u) << "nothing changed but by itself";
}

TEST(Scheduler, APodIsWokenByTheLossOfAnothersReservation) {
  SchedulerWorld world{{1}, profile_from("{plugins: [{name: RefusesReserve}]}")};
  world.add({make_job(JobKind::Pods, 1, 1, 1_h), at(10_s, make_job(JobKind::Pods, 1, 1, 1_h))});
  world.run(Time{} + 12_s);
  const auto rows = world.attempts();
  ASSERT_GE(rows.size(), 3u);
  EXPECT_EQ(rows[1].job, 1u);
  EXPECT_EQ(rows[2].job, 0u) << "its backoff is over, and the other one gave a node back";
}

// ---- PreFilters that remove nodes

class KeepsFirst final : public Policy, public PreFilter, public EventHints {
 public:
  struct Params {
    int64_t nodes = 0;
    template <class V>
    void fields(V& v) {
      v("nodes", nodes, "How many nodes are left.");
    }
  };
  KeepsFirst(Handle& /*handle*/, const Params& params) : nodes_{params.nodes} {}
  Status pre_filter(const Cycle& /*cycle*/, NodeSet& nodes) const override {
    nodes.keep_if([&](NodeId n) { return n.index < nodes_; });
    return {};
  }
  ClusterEvents events() const override { return bit_of(ClusterEventKind::NodeChanged); }

 private:
  const int64_t nodes_;
};
const PolicyRegistrar<KeepsFirst> kKeepsFirst{"KeepsFirst", "Lets the first nodes stand."};

TEST(Scheduler, APreFilterThatLeavesNoNodeIsBlamed) {
  SchedulerWorld world{{1, 1}, profile_from("{plugins: [{name: KeepsFirst}]}")};
  world.add({make_job(JobKind::Pods, 1, 1, 1_h)});
  world.at(Time{} + 20_s, [&] { world.scheduler.node_changed({1}); });
  world.run(Time{} + 200_s);
  const auto rows = world.attempts();
  ASSERT_EQ(rows.size(), 2u) << "its own event wakes the pod";
  EXPECT_EQ(rows[0].message.view(),
            "0/2 nodes are available: node(s) didn't satisfy plugin KeepsFirst.");
  EXPECT_EQ(rows[1].at, Time{} + 20_s);
}

TEST(Scheduler, NodesThatAPreFilterTookAwayAreCountedUnderIt) {
  SchedulerWorld world{{1, 4, 4},
                       profile_from("{plugins: [{name: KeepsFirst, args: {nodes: 1}}]}")};
  world.add({make_job(JobKind::Pods, 1, 4, 1_h)});
  world.at(Time{} + 20_s, [&] { world.scheduler.node_changed({2}); });
  world.run(Time{} + 200_s);
  const auto rows = world.attempts();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].message.view(),
            "0/3 nodes are available: 1 Insufficient nvidia.com/gpu, "
            "2 node(s) didn't satisfy plugin KeepsFirst.");
}

// ---- gangs

// A variant of case GA-06 in tests/validation/data/coscheduling.json. Two members wait in Permit,
// the third finds no node, and the gang backs off.
TEST(Scheduler, AGangThatWasTurnedDownPausesForItsBackoff) {
  SchedulerWorld world{{1, 1},
                       profile_from("{base: coscheduling, plugins: [{name: Coscheduling, "
                                    "args: {podGroupBackoffSeconds: 20}}]}")};
  world.add({make_job(JobKind::MpiGang, 3, 1, 1_h)});
  world.run(Time{} + 60_s);
  const auto rows = world.attempts();
  const auto waiting = rows_with(rows, AttemptOutcome::Waiting);
  ASSERT_GE(waiting.size(), 2u);
  EXPECT_EQ(waiting[0].at, Time{});
  EXPECT_EQ(waiting[1].at, Time{});
  for (size_t i = 2; i < waiting.size(); ++i) EXPECT_GE(waiting[i].at, Time{} + 20_s);
  const auto rejected = rows_with(rows, AttemptOutcome::Rejected);
  ASSERT_GE(rejected.size(), 2u);
  EXPECT_EQ(rejected[0].at, Time{});
  const auto failed = rows_with(rows, AttemptOutcome::Unschedulable);
  ASSERT_GE(failed.size(), 2u);
  EXPECT_EQ(failed[1].message.view(), "podGroup failed recently");
}

TEST(Scheduler, AGangAtTheHeadOfABlockingQueueHoldsUpWhatComesAfter) {
  std::vector<std::vector<Time>> starts;
  for (const std::string policy : {"block", "skip"}) {
    SchedulerWorld world{
        {4, 4}, profile_from("{base: strict_gang, queue: {head_of_line: " + policy + "}}")};
    world.add({make_job(JobKind::MpiGang, 1, 4, 10_min),
               at(10_s, make_job(JobKind::MpiGang, 2, 4, 10_min)),
               at(20_s, make_job(JobKind::MpiGang, 1, 4, 10_min))});
    world.run();
    auto rows = world.job_rows();
    std::ranges::sort(rows, {}, &JobRow::job);
    ASSERT_EQ(rows.size(), 3u);
    for (const JobRow& row : rows) EXPECT_EQ(row.outcome, JobOutcome::Completed);
    starts.push_back({rows[0].running, rows[1].running, rows[2].running});
  }
  EXPECT_GE(starts[0][1], Time{} + 10_min);
  EXPECT_GE(starts[0][2], starts[0][1] + 10_min) << "it waits behind the gang";
  EXPECT_LT(starts[1][2], Time{} + 1_min) << "it takes the free node at once";
}

class MarksGangs final : public Policy, public Permit, public PostBind {
 public:
  using Params = NoParams;
  MarksGangs(Handle& handle, const Params& /*params*/) : handle_{handle} {}
  PermitStatus permit(const Cycle& cycle, NodeId /*node*/) override {
    seen().push_back(handle_.gang(cycle.pod.gang));
    return {};
  }
  void post_bind(const PodView& pod, NodeId /*node*/) override {
    handle_.set_gang_failure(pod.gang, handle_.now(), handle_.now() + 1_h);
  }
  static std::vector<GangView>& seen() {
    static std::vector<GangView> gangs;
    return gangs;
  }

 private:
  Handle& handle_;
};
const PolicyRegistrar<MarksGangs> kMarksGangs{"MarksGangs", "Marks gangs as failed when bound."};

TEST(Scheduler, AGangWithARecycledIdStartsAfresh) {
  MarksGangs::seen().clear();
  SchedulerWorld world{{1}, profile_from("{plugins: [{name: MarksGangs}]}")};
  world.add({make_job(JobKind::MpiGang, 1, 1, 1_min),
             at(10_min, make_job(JobKind::MpiGang, 1, 1, 1_min))});
  world.run();
  const auto& seen = MarksGangs::seen();
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].id, seen[1].id) << "the id is used again";
  EXPECT_LT(seen[1].last_failure, Time{});
  EXPECT_EQ(seen[1].backoff_until, Time{});
  EXPECT_EQ(seen[1].assigned(), 0);
  EXPECT_GE(seen[1].created_at, Time{} + 10_min);
}

TEST(Scheduler, PodsInPermitGiveUpANodeThatGoesDown) {
  SchedulerWorld world{{1, 1, 1},
                       profile_from("{base: coscheduling, plugins: [{name: Coscheduling, "
                                    "args: {podGroupRejectPercentage: 100}}]}")};
  world.add(
      {make_job(JobKind::Pods, 1, 1, 5_min), at(1_s, make_job(JobKind::MpiGang, 3, 1, 10_min))});
  int64_t before = 0, after = 0;
  size_t waiting = 0;
  NodeId failed;
  world.at(Time{} + 10_s, [&] {
    before = world.scheduler.reserved_gpu_milli();
    for (const AttemptRow& row : rows_with(world.attempts(), AttemptOutcome::Waiting)) {
      failed = row.node;
    }
    world.fail(failed);
    after = world.scheduler.reserved_gpu_milli();
    waiting = world.scheduler.pods_waiting_in_permit();
  });
  world.at(Time{} + 2_min, [&] { world.repair(failed); });
  world.run();
  EXPECT_EQ(before, 2 * kMilli);
  EXPECT_EQ(after, 0) << "Unreserve turns the sibling away, too";
  EXPECT_EQ(waiting, 0u);
  const auto errors = rows_with(world.attempts(), AttemptOutcome::Error);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].message.view(), "node failed before the pod was bound");
  for (const JobRow& row : world.job_rows()) EXPECT_EQ(row.outcome, JobOutcome::Completed);
  EXPECT_EQ(world.cluster.gpu_milli_allocated(), 0);
}

// The gang of four fails when its third member finds no node. Its fourth member, which is still in
// the queue, must then be sorted behind the gang of two.
TEST(Scheduler, AGangThatFailedLetsALaterOneGoFirst) {
  ProfileParams profile = profile_from("{base: coscheduling}");
  profile.cost.per_cycle = 1_ms;
  SchedulerWorld world{{1, 1, 1}, profile};
  world.add({make_job(JobKind::Pods, 1, 1, 1_h), at(1_s, make_job(JobKind::MpiGang, 4, 1, 1_h)),
             at(1_s, make_job(JobKind::MpiGang, 2, 1, 1_h))});
  world.run(Time{} + 2_s);
  const auto rows = world.attempts();
  const auto scheduled = rows_with(rows, AttemptOutcome::Scheduled);
  ASSERT_GE(scheduled.size(), 2u);
  EXPECT_EQ(scheduled[1].job, 2u) << "the other gang's fourth lets it go first";
  size_t before = 0;
  for (const AttemptRow& row : rows) {
    if (row.job == 2) break;
    before += row.job == 1 ? 1 : 0;
  }
  EXPECT_EQ(before, 5u) << "two waited, the third fitted nowhere, both were rejected";
}

TEST(Scheduler, AGangThatFitsNowhereDoesNotStopTimeWhereCyclesTakeNone) {
  for (const std::string base : {"coscheduling", "koordinator"}) {
    SCOPED_TRACE(base);
    SchedulerWorld world{{1, 1}, profile_from("{base: " + base + "}")};
    world.add({make_job(JobKind::MpiGang, 4, 1, 1_h)});
    world.run(Time{} + 1_min);
    EXPECT_EQ(world.scheduler.counters().pods_scheduled, 0u);
    EXPECT_LT(world.scheduler.counters().attempts, 1000u);
  }
}

class RefusesRanks final : public Policy, public Reserve, public EventHints {
 public:
  struct Params {
    int32_t from = 0;
    template <class V>
    void fields(V& v) {
      v("from", from, "Lowest rank that is refused.");
    }
  };
  RefusesRanks(Handle& /*handle*/, const Params& params) : from_{params.from} {}
  Status reserve(const Cycle& cycle, NodeId /*node*/) override {
    if (cycle.pod.rank < from_) return {};
    return {Code::Unschedulable, "refused"};
  }
  void unreserve(const PodView& /*pod*/, NodeId /*node*/) override {}
  ClusterEvents events() const override { return 0; }

 private:
  const int32_t from_;
};
const PolicyRegistrar<RefusesRanks> kRefusesRanks{"RefusesRanks", "Lets high ranks not reserve."};

TEST(Scheduler, AGangOfWhichTooFewCanReserveKeepsNoNode) {
  for (const std::string base : {"strict_gang", "native_gang"}) {
    SCOPED_TRACE(base);
    SchedulerWorld world{
        {4},
        profile_from("{base: " + base + ", plugins: [{name: RefusesRanks, args: {from: 2}}]}")};
    world.add({make_job(JobKind::MpiGang, 3, 1, 1_h)});
    world.run(Time{} + 1_min);
    EXPECT_EQ(world.scheduler.counters().pods_scheduled, 0u);
    EXPECT_EQ(world.scheduler.reserved_gpu_milli(), 0);
    EXPECT_EQ(world.cluster.gpu_milli_allocated(), 0);
    EXPECT_EQ(rows_with(world.attempts(), AttemptOutcome::Rejected).size(), 3u);
  }
}

TEST(Scheduler, AGangOfWhichEnoughCanReserveStartsWithThose) {
  SchedulerWorld world{
      {4}, profile_from("{base: native_gang, plugins: [{name: RefusesRanks, args: {from: 2}}]}")};
  JobSpec job = make_job(JobKind::MpiGang, 3, 1, 1_h);
  job.gangs[0].min_available = 2;
  world.add({job});
  world.run(Time{} + 1_min);
  EXPECT_EQ(world.scheduler.counters().pods_scheduled, 2u);
  EXPECT_EQ(world.cluster.gpu_milli_allocated(), 2 * kMilli);
}

// With matchPolicy once-satisfied, the minimum of a gang applies only until the first of its pods
// is bound. So Koordinator places recreated pods one by one. With waiting-and-running, recreated
// pods wait for the minimum.
TEST(Scheduler, KoordinatorPlacesARestartedGroupOneByOneUnlessToldOtherwise) {
  for (const std::string match : {"once-satisfied", "waiting-and-running"}) {
    SCOPED_TRACE(match);
    SchedulerWorld world{{1, 1},
                         profile_from("{base: koordinator, plugins: [{name: "
                                      "KoordinatorCoscheduling, args: {matchPolicy: " +
                                      match + "}}]}")};
    world.add({make_job(JobKind::MpiGang, 2, 1, 1_h)});
    world.at(Time{} + 10_min, [&] { world.fail({1}); });
    world.run(Time{} + 30_min);
    const bool is_free = match == "once-satisfied";
    EXPECT_EQ(world.cluster.gpu_milli_allocated(), is_free ? kMilli : 0);
    EXPECT_EQ(world.scheduler.counters().pods_scheduled, is_free ? 3u : 2u);
    EXPECT_EQ(world.scheduler.pods_waiting_in_permit(), 0u);
  }
}

// ---- futile attempts

constexpr const char* kTooLarge = R"(
cluster:
  machines: [{name: box, base: hgx-h100, gpus: 1}]
  pools: [{name: n, machine: box, count: 4}]
workload:
  sources:
  - {kind: jobs, jobs: [{name: short, pods: 1, pod: {gpus: 1}, work: 5min},
                        {name: large, pods: 5, pod: {gpus: 1}, work: 10min}]}
policy: {base: coscheduling}
)";

TEST(Scheduler, ARunThatOnlyRetriesInVainEnds) {
  ScenarioRun run{kTooLarge};
  EXPECT_EQ(run.result.end, SimulationResult::End::Futile);
  EXPECT_GT(run.result.simulated, Time{} + 5_min) << "not while a job runs";
  EXPECT_LT(run.result.simulated, Time{} + 2_d);
}

TEST(Scheduler, ARunThatShallLastUntilATimeDoes) {
  ScenarioRun run{kTooLarge, {"run.until=20min", "policy.cost.per_cycle=10ms"}, {}};
  EXPECT_EQ(run.result.end, SimulationResult::End::Done);
  EXPECT_EQ(run.result.simulated, Time{} + 20_min);
}

TEST(Scheduler, VainAttemptsAreWarnedOfOnceWhileTheRunGoesOn) {
  const std::vector<std::string> sets{"run.until=20min", "policy.cost.per_cycle=10ms",
                                      "run.compress_retries=false"};
  std::vector<std::pair<Time, std::string>> warnings;
  const auto keep = [&](Time now, const std::string& text) { warnings.emplace_back(now, text); };
  ScenarioRun run{kTooLarge, sets, {.on_warning = keep, .audit_every = 1}};
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_LT(warnings[0].first, Time{} + 10_min);
  EXPECT_NE(warnings[0].second.find("strict_gang and native_gang place a gang as a whole"),
            std::string::npos);

  warnings.clear();
  ScenarioRun whole{kTooLarge,
                    {"run.until=20min", "policy.base=strict_gang"},
                    {.on_warning = keep, .audit_every = 1}};
  EXPECT_TRUE(warnings.empty());
}

// ---- jobs that are too large for the cluster

TEST(Scheduler, AJobThatTheEmptyClusterCouldNotHoldIsNamedOnce) {
  ScenarioRun run{kTooLarge, {"run.until=20min", "policy.cost.per_cycle=10ms"}, {}};
  const auto are_of = [&](const std::string& text) {
    return std::ranges::count_if(run.result.warnings, [&](const std::string& warning) {
      return warning.find(text) != std::string::npos;
    });
  };
  EXPECT_EQ(are_of("job 'large' (1) can never start: it needs 5 pods of 1 GPU"), 1);
  EXPECT_EQ(are_of("4 fit on the empty cluster"), 1);
  EXPECT_EQ(are_of("what does not fit is tried again and again"), 1);
}

}  // namespace
}  // namespace orrery
