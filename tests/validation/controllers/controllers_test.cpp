#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "models/controllers/action_rows.hpp"
#include "models/controllers/disruption_budgets.hpp"
#include "models/scheduling/contract/policy_registry.hpp"
#include "models/workload/job/pod_row.hpp"
#include "tests/support/job_world.hpp"
#include "tests/support/scheduler_world.hpp"
#include "tests/support/validation_cases.hpp"

namespace orrery {
namespace {

using nlohmann::json;

// A controller that drains the first node, once.
class DrainsFirstNode final : public Policy, public Controller {
 public:
  struct Params {
    static constexpr std::string_view kDoc = "How.";
    Duration force_after = {};
    template <class V>
    void fields(V& v) {
      v("force_after", force_after, "Then budgets do not count.");
    }
  };
  DrainsFirstNode(const ControlBoard& /*board*/, const Params& params) : params_{params} {}
  void tick(const ControlBoard& /*board*/, Actions& actions) override {
    if (has_begun_) return;
    has_begun_ = true;
    actions.give(DrainNode{.node = NodeId{0}, .force_after = params_.force_after}, "once");
  }

 private:
  const Params params_;
  bool has_begun_ = false;
};
ORRERY_REGISTER_POLICY(DrainsFirstNode, "DrainsFirstNode", "Drains the first node, once.");

json drain_s(const json& input) {
  ScenarioRun run{
      "cluster: {pools: [{name: a, machine: dgx-a100, count: 2}]}\n"
      "policy: {controllers: [{name: DrainsFirstNode, period: 1min, args: {force_after: " +
      input.at("force_after_d").dump() +
      "d}}]}\nworkload:\n  controller: {termination: " + input.at("termination_s").dump() +
      "s}\n  disruption_budgets: [{name: all, min_available: " + input.at("pods").dump() +
      "}]\n  sources: [{kind: service, name: s, replicas: " + input.at("pods").dump() +
      ", pod: {gpus: 1}, load: [{at: 0h, load: 1}]}]\nrun: {until: 8d}\n"};
  const auto rows = run.recorder.rows<ActionRow>("/events/actions");
  EXPECT_EQ(rows.size(), 1U);
  return (rows.at(0).ended - rows.at(0).at) / 1_s;
}

// Runs a cluster that the autoscaler may scale down, with one replica, or one pod of a gang, on
// each node. Returns the figure that `of` names, such as the number of lost replicas. Two pods may
// fit on a node, but the default scheduler prefers the nodes with the most free CPU, so each node
// gets one.
json consolidation(const json& input) {
  const int64_t nodes = input.at("nodes").get<int64_t>();
  const std::string count = std::to_string(nodes), gpus = input.at("gpus").dump();
  std::string budgets, sources;
  if (input.contains("max_unavailable")) {
    budgets =
        "  disruption_budgets: [{name: b, max_unavailable: " + input.at("max_unavailable").dump() +
        "}]\n";
  }
  if (input.contains("gang")) {
    sources = "{kind: jobs, jobs: [{name: s, work: 10d, pods: " + count + ", pod: {gpus: " + gpus +
              ", cpus: 40}}]}";
  } else {
    sources = "{kind: service, name: s, replicas: " + count + ", pod: {gpus: " + gpus +
              ", cpus: 40}, load: [{at: 0h, load: 1}]}";
  }
  ScenarioRun run{"cluster: {pools: [{name: a, machine: dgx-a100, count: " + count +
                  "}]}\ncontrol_plane: {level: delays, autoscaler: {groups: [{pool: a, "
                  "nodes_at_start: " +
                  count + "}]}}\nworkload:\n" + budgets + "  sources: [" + sources +
                  "]\nrun: {until: 3h}\n"};
  const auto of = input.at("of").get<std::string>();
  if (of == "replicas_lost") {
    const auto pods = run.recorder.rows<PodRow>("/pods");
    return nodes - std::ranges::count(pods, PodEnd::RunEnded, &PodRow::end);
  }
  std::vector<ActionRow> drains, removals;
  for (const ActionRow& row : run.recorder.rows<ActionRow>("/events/actions")) {
    EXPECT_EQ(row.outcome, ActionOutcome::Done);
    if (row.action == ActionKind::Drain) drains.push_back(row);
    if (row.action == ActionKind::RemoveNodes) removals.push_back(row);
  }
  std::ranges::sort(drains, {}, &ActionRow::at);
  std::ranges::sort(removals, {}, &ActionRow::at);
  if (of == "earliest") return drains.at(0).at >= Time{} + 10_min ? "after 10 min" : "earlier";
  int64_t removed = 0, most = 0;
  for (const ActionRow& row : removals) removed += row.amount;
  if (of == "removed") return removed;
  for (const ActionRow& drain : drains) {
    const auto is_open = [&](const ActionRow& other) {
      return other.at <= drain.at && other.ended > drain.at;
    };
    most = std::max(most, std::ranges::count_if(drains, is_open));
  }
  return most;
}

// How many evictions the budget allows. All pods are ready, belong to one ReplicaSet and share the
// budget. If `after_eviction` is not 0, one pod was evicted `after_eviction` ago.
json allowed(const json& input, Duration after_eviction) {
  JobWorld world;
  JobSpec job;
  job.controller = WorkloadKind::ReplicaSet;
  job.work = 1_h;
  PodSpec spec;
  spec.gpus = 1;
  job.gangs = {{.roles = {{.spec = spec, .pods = input.at("pods").get<int32_t>()}}}};
  world.add({job});
  const Time now = Time{} + 1_s;
  world.run(now);
  DisruptionBudgetParams budget{.name = "b"};
  if (input.contains("min_available")) budget.min_available = input.at("min_available");
  if (input.contains("max_unavailable")) budget.max_unavailable = input.at("max_unavailable");
  DisruptionBudgets budgets{world.jobs, {budget}, [](JobId) { return 0; }};
  if (after_eviction > Duration{}) {
    EXPECT_EQ(budgets.evict({0}, now).verdict, DisruptionBudgets::Verdict::Allowed);
  }
  return budgets.status(0, now + after_eviction).allowed();
}

json ours_in_controllers(const json& input) {
  const auto quantity = input.at("quantity").get<std::string>();
  if (quantity == "consolidation") return consolidation(input);
  if (quantity == "drain_s") return drain_s(input);
  if (quantity == "allowed_after") return allowed(input, 1_s * input.at("after_s").get<int64_t>());
  return allowed(input, {});
}

TEST(ControllersValidation, ScaleDownAndDisruptionBudgetsAreAsUpstream) {
  test::check_cases("controllers.json", 15, ours_in_controllers);
}

}  // namespace
}  // namespace orrery
