// Pods between the choice of their node and their binding.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "models/scheduling/contract/policy_registry.hpp"
#include "tests/support/scheduler_world.hpp"

namespace orrery {
namespace {

class SkipsBinding final : public Policy, public Bind {
 public:
  using Params = NoParams;
  SkipsBinding(Handle& /*handle*/, const Params& /*params*/) {}
  Status bind(const PodView& /*pod*/, NodeId /*node*/) override { return {Code::Skip}; }
};
const PolicyRegistrar<SkipsBinding> kSkipsBinding{"SkipsBinding", "Leaves binding to others."};

TEST(Scheduler, APodThatNoBindPluginTakesIsBoundByTheFramework) {
  SchedulerWorld world{{1}, without_cost(profile_of(ProfileBase::Default, {"SkipsBinding"}))};
  world.add({make_job(JobKind::Pods, 1, 1, 1_h)});
  world.run(Time{} + 1_min);
  EXPECT_EQ(world.scheduler.counters().pods_scheduled, 1u);
}

// After the cycle of a pod group, kube-scheduler reserves the members one by one. The first members
// wait in Permit until `min` members are reserved. Later members are bound at once.
TEST(Scheduler, MembersOfAGangAreBoundOneByOneOnceTheyAreEnough) {
  for (const int32_t min : {2, 4}) {
    SCOPED_TRACE(min);
    SchedulerWorld world{{4}, profile_of(ProfileBase::NativeGang)};
    JobSpec job = make_job(JobKind::MpiGang, 4, 1, 1_h);
    job.gangs[0].min_available = min;
    world.add({job});
    world.run(Time{} + 1_min);
    const SchedulerCost cost;
    for (int32_t i = 0; i < 4; ++i) {
      const int64_t turn = std::max(i + 1, min);
      EXPECT_EQ(world.jobs.pod({static_cast<uint32_t>(i)}).bound,
                Time{} + cost.per_cycle + cost.per_node + cost.per_pod * turn);
    }
  }
}

class FailsOnce final : public Policy, public PreBind, public EventHints {
 public:
  using Params = NoParams;
  FailsOnce(Handle& /*handle*/, const Params& /*params*/) {}
  Status pre_bind(const PodView& /*pod*/, NodeId /*node*/) override {
    if (std::exchange(has_failed_, true)) return {};
    return {Code::Error, "not yet"};
  }
  ClusterEvents events() const override { return 0; }

 private:
  bool has_failed_ = false;
};
const PolicyRegistrar<FailsOnce> kFailsOnce{"FailsOnce", "Fails the first binding."};

TEST(Scheduler, ABlockedQueueLetsAPodPassThatComesBackToStandBeforeItsHead) {
  ProfileParams profile = without_cost(profile_of(ProfileBase::Default, {"FailsOnce"}));
  profile.queue.head_of_line = HeadOfLine::Block;
  SchedulerWorld world{{1, 4}, profile};
  JobSpec urgent = make_job(JobKind::Pods, 1, 1, 1_h);
  urgent.gangs[0].roles[0].spec.priority = 10;
  world.add({urgent, make_job(JobKind::Pods, 1, 8, 1_h)});
  world.run(Time{} + 1_min);
  EXPECT_EQ(world.scheduler.counters().pods_scheduled, 1u);
  std::vector<Time> scheduled;
  for (const AttemptRow& row : world.attempts()) {
    if (row.outcome == AttemptOutcome::Scheduled) scheduled.push_back(row.at);
  }
  EXPECT_EQ(scheduled, (std::vector<Time>{Time{}, Time{} + 1_s})) << "when its backoff is over";
}

}  // namespace
}  // namespace orrery
