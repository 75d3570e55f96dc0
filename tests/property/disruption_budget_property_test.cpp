// Random evictions and drains. Only a drain may evict a pod against its disruption budget, and only
// after the drain's force_after.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "models/controllers/action_rows.hpp"
#include "models/scheduling/contract/policy_registry.hpp"
#include "models/workload/job/pod_row.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/scheduler_world.hpp"

namespace orrery {
namespace {

constexpr Duration kForceAfter = 10_min;

// A controller that evicts all pods of random nodes, and drains or uncordons random nodes.
class Saboteur final : public Policy, public Controller {
 public:
  using Params = NoParams;
  Saboteur(const ControlBoard& board, const Params& /*params*/) : rng_{board.rng("saboteur")} {}
  void tick(const ControlBoard& board, Actions& actions) override {
    const auto nodes = static_cast<uint32_t>(board.cluster().nodes());
    for (int i = 0; i < 3; ++i) {
      const NodeId node{static_cast<uint32_t>(rng_.below(nodes))};
      const uint64_t what = rng_.below(4);
      if (what == 0) {
        const bool is_forced = rng_.below(2) == 0;
        actions.give(DrainNode{node, 20_min, is_forced ? kForceAfter : Duration::max()}, "drain");
      } else if (what == 1) {
        actions.give(UncordonNode{node}, "back");
      } else {
        for (const PodId pod : board.placements().on_node(node)) {
          actions.give(EvictPod{pod, rng_.below(2) == 0 ? 30_s : Duration{}}, "evict");
        }
      }
    }
  }

 private:
  Rng rng_;
};
ORRERY_REGISTER_POLICY(Saboteur, "Saboteur", "Evicts and drains at random.");

struct BudgetWorld {
  explicit BudgetWorld(uint64_t seed) : random{seed} {}
  int pick(int low, int high) {
    return low + static_cast<int>(random.below(static_cast<uint64_t>(high - low + 1)));
  }
  std::string yaml() {
    const char* const levels[] = {"none", "delays", "full"};
    std::string text =
        "cluster: {pools: [{name: n, machine: dgx-a100, count: " + std::to_string(pick(2, 6)) +
        "}]}\ncontrol_plane: {level: " + levels[pick(0, 2)] + "}\nworkload:\n";
    if (pick(0, 1) == 0) termination = Duration{pick(1, 90) * 1'000'000'000LL};
    text += "  controller: {termination: " + std::to_string(termination.ns) + "ns}\n";
    std::string budgets, sources;
    for (int i = 0; i < 2; ++i) {
      const int replicas = pick(1, 6);
      least.push_back(pick(0, replicas));
      const std::string name = "s" + std::to_string(i);
      budgets += "    - {name: " + name + ", team: " + name +
                 ", min_available: " + std::to_string(least.back()) + "}\n";
      sources += "    - {kind: service, name: " + name + ", team: " + name +
                 ", replicas: " + std::to_string(replicas) +
                 ", pod: {gpus: 1}, load: [{at: 0s, load: 1}]}\n";
    }
    text += "  disruption_budgets:\n" + budgets + "  sources:\n" + sources;
    return text + "policy: {controllers: [{name: Saboteur, period: 1min}]}\nrun: {until: 2h}\n";
  }
  Rng random;
  Duration termination = {};
  std::vector<int> least;  // minimum of ready pods, by service
};

TEST(DisruptionBudgetProperty, NoPodIsEvictedAgainstItsBudgetBeforeItsDrainIsForced) {
  const uint64_t seeds = test::kIsSanitized ? 20 : 100;
  uint64_t evictions = 0, refused = 0;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    BudgetWorld world{seed};
    ScenarioRun run{world.yaml(), {"run.seed=" + std::to_string(seed)}};
    const std::vector<PodRow> pods = run.recorder.rows<PodRow>("/pods");
    const std::vector<ActionRow> actions = run.recorder.rows<ActionRow>("/events/actions");
    refused += static_cast<uint64_t>(
        std::ranges::count(actions, ActionOutcome::Refused, &ActionRow::outcome));
    const auto leaves = [&](const PodRow& pod) {  // the time at which the pod began to terminate
      if (pod.end == PodEnd::RunEnded) return Time::max();
      return pod.end == PodEnd::Evicted && pod.started > kNever && pod.started <= pod.ended
                 ? pod.ended - world.termination
                 : pod.ended;
    };
    const auto is_forced = [&](const PodRow& pod) {
      return std::ranges::any_of(actions, [&](const ActionRow& action) {
        return action.action == ActionKind::Drain && action.node == pod.node &&
               leaves(pod) >= action.at + kForceAfter &&
               leaves(pod) <= action.at + kForceAfter + 10_s;
      });
    };
    for (const PodRow& pod : pods) {
      if (pod.end != PodEnd::Evicted || is_forced(pod)) continue;
      ++evictions;
      const Time at = leaves(pod);
      const auto stays = [&](const PodRow& other) {
        return other.job == pod.job && other.started > kNever && other.started <= at &&
               leaves(other) > at;
      };
      EXPECT_GE(std::ranges::count_if(pods, stays), world.least[pod.job])
          << "rank " << pod.rank << " at " << at.ns;
    }
  }
  EXPECT_GT(evictions, seeds);
  EXPECT_GT(refused, seeds);
}

}  // namespace
}  // namespace orrery
