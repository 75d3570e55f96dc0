#include "models/scheduling/framework/scheduler_cost.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <variant>

#include "sim/config/reader.hpp"
#include "tests/support/scheduler_world.hpp"

namespace orrery {
namespace {

using ::testing::HasSubstr;

TEST(SchedulerCost, OfThePresetHoldsWhereNoneIsGiven) {
  const SchedulerCost today = SchedulerCostParams{};
  EXPECT_EQ(today.per_cycle + today.per_node * 500 + today.per_pod, Duration{1'340'000});
  const SchedulerCost old = SchedulerCostParams{.preset = CostPreset::Kubernetes115};
  EXPECT_EQ(old.per_cycle + old.per_node * 500 + old.per_pod, Duration{6'340'000});
  const SchedulerCost mixed = SchedulerCostParams{
      .preset = CostPreset::Kubernetes115, .per_cycle = 1_ms, .per_pod = Duration{}, .bind = 2_ms};
  EXPECT_EQ(mixed.per_cycle, 1_ms);
  EXPECT_EQ(mixed.per_node, old.per_node);
  EXPECT_EQ(mixed.per_pod, Duration{});
  EXPECT_EQ(mixed.bind, 2_ms);
}

// Scheduler time for one pod on 200 empty nodes, of which the scheduler visits 100 or more.
Duration time_of_one_pod(const std::string& policy) {
  ScenarioRun run{
      "cluster: {pools: [{name: n, machine: dgx-a100, count: 200}]}\npolicy: {" + policy +
          "}\nworkload: {sources: [{kind: jobs, jobs: [{kind: pods, work: 1min, pod: {gpus: 1}}]}]}"
          "\n",
      {},
      {}};
  const auto found = std::ranges::find(run.result.summary, "scheduler_busy", &SummaryValue::name);
  const double seconds = std::get<double>(found->value);
  return {static_cast<int64_t>(seconds * 1e9 + 0.5)};
}

TEST(SchedulerCost, PresetOfAnOldVersionSetsThePluginAndTheCycle) {
  const std::string preset = "cost: {preset: kubernetes_1_15";
  const auto plugin = [](const std::string& args) {
    return ", plugins: [{name: InterPodAffinity" + args + "}]";
  };
  const int64_t visited =
      (time_of_one_pod("cost: {preset: kubernetes_1_15}") - Duration{5'340'000}) / 2_us;
  EXPECT_GE(visited, 100);
  EXPECT_LE(visited, 200);
  const Duration cycle = Duration{5'340'000} + 2_us * visited;
  const Duration affinity = Duration{3'960} * 200;
  EXPECT_EQ(time_of_one_pod(preset + "}" + plugin("")), cycle + affinity);
  EXPECT_EQ(time_of_one_pod(preset + "}" + plugin(", args: {per_node: 1us}")), cycle + 1_us * 200);
  EXPECT_EQ(time_of_one_pod(preset + "}" + plugin(", args: {algorithm: current}")), cycle);
  EXPECT_EQ(time_of_one_pod(preset + ", per_pod: 1ms}" + plugin("")), cycle + affinity - 4_ms);
  EXPECT_EQ(time_of_one_pod("cost: {preset: current}" + plugin("")),
            Duration{340'000} + 2_us * visited);
}

TEST(SchedulerCost, UnknownPresetsAreErrorsOfTheField) {
  Diagnostics diagnostics;
  const config::Document document =
      config::load_text("cost: {preset: kubernetes_1_17}", "s.yaml", diagnostics);
  static_cast<void>(read_params<ProfileParams>(document.root, "policy", diagnostics));
  EXPECT_THAT(diagnostics.text(), HasSubstr("policy.cost.preset"));
  EXPECT_THAT(diagnostics.text(), HasSubstr("kubernetes_1_15"));
}

}  // namespace
}  // namespace orrery
