#include "policies/controllers/scaling/move_simulation.hpp"

#include <algorithm>
#include <functional>
#include <tuple>

namespace orrery {

MoveSimulation::MoveSimulation(const ControlBoard& board, const ClusterAutoscalerParams& params)
    : board_{board},
      params_{params},
      rooms_{board.cluster(), board.specs(), false},
      others_{board.cluster().up()} {
  rooms_.take_what_is_taken();
  others_.keep_if([&](NodeId node) { return board.is_ready(node); });
  free_expendable();
}

bool MoveSimulation::counts(PodId pod) const {
  return board_.placements().of(pod).priority >= params_.expendable_below;
}

// Removes expendable pods from the simulated nodes, because other pods may preempt them.
void MoveSimulation::free_expendable() {
  const Placements& placements = board_.placements();
  const auto is_below = [&](std::optional<int32_t> lowest) {
    return lowest && *lowest < params_.expendable_below;
  };
  if (!is_below(placements.lowest_priority())) return;
  others_.for_each([&](NodeId node) {
    if (!is_below(placements.lowest_priority_on(node))) return;
    for (const PodId pod : placements.on_node(node)) {
      const Placed& at = placements.of(pod);
      if (!counts(pod)) rooms_.take_away(node, at.spec, at.grant.gpus);
    }
  });
}

std::string_view MoveSimulation::why_held(const std::vector<PodId>& pods) {
  for (const PodId pod : pods) {
    if (!params_.scale_down.gangs && board_.placements().of(pod).gang.is_valid()) {
      return "a pod of a gang";
    }
  }
  return why_forbidden(pods);
}

// A pod that several budgets select may not be evicted. The Eviction API has the same rule.
std::string_view MoveSimulation::why_forbidden(const std::vector<PodId>& pods) {
  std::map<uint32_t, int32_t> left = allowed_;
  for (const PodId pod : pods) {
    const std::vector<uint32_t> budgets = board_.budgets(pod);
    if (budgets.size() > 1) return "several disruption budgets select a pod";
    for (const uint32_t budget : budgets) {
      const auto [at, is_new] = left.try_emplace(budget);
      if (is_new) at->second = board_.disruptions_allowed(budget);
      if (--at->second < 0) return "a disruption budget";
    }
  }
  allowed_ = std::move(left);
  return {};
}

std::string_view MoveSimulation::clear(NodeId node) {
  std::vector<PodId> pods = board_.placements().on_node(node);
  std::erase_if(pods, [&](PodId pod) { return !counts(pod); });
  std::ranges::sort(pods);
  const std::map<uint32_t, int32_t> allowed = allowed_;
  const std::string_view held = why_held(pods);
  if (!held.empty()) return held;
  std::vector<SpecId> specs;
  for (const PodId pod : pods) specs.push_back(board_.placements().of(pod).spec);
  const auto come = moved_.find(node);
  if (come != moved_.end()) {
    for (const Move& move : come->second) specs.push_back(move.spec);
  }
  std::ranges::stable_sort(specs, std::greater{}, [&](SpecId spec) {
    const Resources& r = board_.specs().request(spec).resources;
    return std::tuple{r[Resource::Gpu], r[Resource::Cpu], r[Resource::Memory]};
  });
  const bool was_other = others_.contains(node);
  others_.erase(node);
  std::vector<Move> moves;
  for (const SpecId spec : specs) {
    const NodeId to = rooms_.first_with_room(spec, others_);
    if (!to.is_valid()) {
      for (const Move& move : moves) rooms_.take_away(move.to, move.spec, move.gpus);
      others_.assign(node, was_other);
      allowed_ = allowed;
      return "no room for a pod elsewhere";
    }
    moves.push_back({to, spec, rooms_.put(to, spec)});
  }
  moved_.erase(node);
  for (const Move& move : moves) moved_[move.to].push_back(move);
  return {};
}

}  // namespace orrery
