// The arithmetic of disruption budgets, as in kubernetes
// pkg/controller/disruption/disruption.go@003e8629. Includes cases HL-27 and HL-30 of
// analysis/VALIDATION.md.
#include "models/controllers/disruption_budgets.hpp"

#include <gtest/gtest.h>

#include "tests/support/job_world.hpp"

namespace orrery {
namespace {

PodSpec one_gpu() {
  PodSpec spec;
  spec.gpus = 1;
  return spec;
}

// Pods of one ReplicaSet, all ready, and one budget for all pods.
struct BudgetWorld {
  explicit BudgetWorld(int32_t pods, DisruptionBudgetParams budget,
                       WorkloadKind owner = WorkloadKind::ReplicaSet)
      : budgets{world.jobs, {std::move(budget)}, [](JobId) { return 0; }} {
    JobSpec job;
    job.controller = owner;
    job.work = 1_h;
    job.gangs = {{.roles = {{.spec = one_gpu(), .pods = pods}}}};
    world.add({job});
    world.run(Time{} + 1_s);
  }
  int32_t allowed(Time now = Time{} + 1_s) const { return budgets.status(0, now).allowed(); }
  JobWorld world;
  DisruptionBudgets budgets;
};

DisruptionBudgetParams at_least(const std::string& text) {
  return {.name = "b", .min_available = text};
}
DisruptionBudgetParams at_most(const std::string& text) {
  return {.name = "b", .max_unavailable = text};
}

TEST(DisruptionBudgets, PercentagesRoundUp) {
  EXPECT_EQ((BudgetWorld{7, at_least("50%")}.allowed()), 3) << "7 - ceil(3.5)";
  EXPECT_EQ((BudgetWorld{10, at_most("25%")}.allowed()), 3) << "ceil(2.5)";
  EXPECT_EQ((BudgetWorld{3, at_most("34%")}.allowed()), 2) << "ceil(1.02)";
  EXPECT_EQ((BudgetWorld{1, at_most("50%")}.allowed()), 1) << "ceil(0.5)";
  EXPECT_EQ((BudgetWorld{5, at_least("5")}.allowed()), 0);
  EXPECT_EQ((BudgetWorld{5, at_least("2")}.allowed()), 3);
}

TEST(DisruptionBudgets, AJobHasNoScaleSoThatOnlyAWholeNumberOfPodsHolds) {
  EXPECT_EQ((BudgetWorld{4, at_least("50%"), WorkloadKind::Job}.allowed()), 0);
  EXPECT_EQ((BudgetWorld{4, at_most("1"), WorkloadKind::Job}.allowed()), 0);
  EXPECT_EQ((BudgetWorld{4, at_least("3"), WorkloadKind::Job}.allowed()), 1);
}

TEST(DisruptionBudgets, AnEvictionUsesUpADisruptionForTwoMinutes) {
  BudgetWorld w{3, at_least("2")};
  const Time begin = Time{} + 1_s;
  using Verdict = DisruptionBudgets::Verdict;
  EXPECT_EQ(w.budgets.evict({0}, begin).verdict, Verdict::Allowed);
  EXPECT_EQ(w.allowed(begin), 0) << "the pod is in DisruptedPods";
  const DisruptionBudgets::Answer second = w.budgets.evict({1}, begin);
  EXPECT_EQ(second.verdict, Verdict::TooManyRequests);
  EXPECT_EQ(second.budget, "b");
  EXPECT_EQ(w.allowed(begin + 2_min - 1_ns), 0);
  EXPECT_EQ(w.allowed(begin + 2_min), 1) << "the pod is still there, so its entry is dropped";
}

TEST(DisruptionBudgets, APodThatTerminatesIsNotHealthy) {
  BudgetWorld w{3, at_least("2")};
  w.world.jobs.pod({2}).is_terminating = true;
  EXPECT_EQ(w.allowed(), 0);
}

TEST(DisruptionBudgets, APodThatIsNotReadyGoesIfTheBudgetIsHealthy) {
  using Verdict = DisruptionBudgets::Verdict;
  const Time now = Time{} + 1_s;
  BudgetWorld healthy{3, at_least("2")};
  healthy.world.jobs.pod({0}).started = Time::max();
  EXPECT_EQ(healthy.allowed(), 0);
  EXPECT_EQ(healthy.budgets.evict({0}, now).verdict, Verdict::Allowed) << "2 others are ready";
  EXPECT_EQ(healthy.budgets.evict({1}, now).verdict, Verdict::TooManyRequests);
  BudgetWorld poor{3, at_least("3")};
  poor.world.jobs.pod({0}).started = Time::max();
  EXPECT_EQ(poor.budgets.evict({0}, now).verdict, Verdict::TooManyRequests);
  DisruptionBudgetParams always = at_least("3");
  always.unhealthy = UnhealthyPodEviction::AlwaysAllow;
  BudgetWorld lenient{3, always};
  lenient.world.jobs.pod({0}).started = Time::max();
  EXPECT_EQ(lenient.budgets.evict({0}, now).verdict, Verdict::Allowed);
}

TEST(DisruptionBudgets, TeamsAndLabelsSelect) {
  JobWorld world;
  JobSpec web;
  web.team = "red";
  web.controller = WorkloadKind::ReplicaSet;
  web.work = 1_h;
  PodSpec spec = one_gpu();
  spec.labels = {{"app", "web"}};
  web.gangs = {{.roles = {{.spec = spec, .pods = 2}}}};
  JobSpec other = web;
  other.team = "blue";
  world.add({web, other});
  world.run(Time{} + 1_s);
  const auto budget = [](std::string team, std::string app) {
    DisruptionBudgetParams params{.name = "b", .min_available = "1"};
    params.team = std::move(team);
    if (!app.empty()) params.labels = {{"app", std::move(app)}};
    return params;
  };
  const Time now = Time{} + 1_s;
  const DisruptionBudgets budgets{world.jobs,
                                  {budget("red", ""), budget("", "web"), budget("", "db")},
                                  [](JobId) { return 0; }};
  EXPECT_EQ(budgets.status(0, now).healthy, 2);
  EXPECT_EQ(budgets.status(1, now).healthy, 4);
  EXPECT_EQ(budgets.status(2, now).healthy, 0);
  EXPECT_EQ(budgets.of({0}), (std::vector<uint32_t>{0, 1}));
  DisruptionBudgets same = budgets;
  EXPECT_EQ(same.evict({0}, now).verdict, DisruptionBudgets::Verdict::SeveralBudgets);
}

}  // namespace
}  // namespace orrery
