// models/controllers/action_rows.hpp -- rows of /events/actions.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "models/scheduling/contract/control/actions.hpp"
#include "sim/core/id.hpp"
#include "sim/core/time.hpp"
#include "sim/record/column.hpp"

namespace orrery {

// In the order of kActionNames.
enum class ActionKind : uint8_t {
  Cordon,
  Uncordon,
  Taint,
  Evict,
  Drain,
  Suspend,
  Resume,
  Resize,
  AddNodes,
  RemoveNodes
};
constexpr std::array<std::string_view, kActionNames.size()> enum_names(ActionKind) {
  return kActionNames;
}
enum class ActionOutcome : uint8_t { Done, Refused, Failed, UnderWay };
constexpr std::array<std::string_view, 4> enum_names(ActionOutcome) {
  return {"done", "refused", "failed", "under_way"};
}

struct ActionRow {
  Time at, ended{-1};
  FixedText<32> controller;
  ActionKind action = ActionKind::Cordon;
  NodeId node;
  int64_t job = -1;
  int32_t rank = -1;
  FixedText<32> pool;
  int32_t amount = 0;
  uint32_t tries = 0;
  ActionOutcome outcome = ActionOutcome::Done;
  FixedText<96> why, reason;

  static void columns(auto&& c) {
    c("at", &ActionRow::at, "when the controller requested the action");
    c("ended", &ActionRow::ended, "when the outcome was known; -1: not in this run");
    c("controller", &ActionRow::controller,
      "policy of policy.controllers that requested the action");
    c("action", &ActionRow::action, "kind of action");
    c("node", &ActionRow::node, "node that the action concerns");
    c("job", &ActionRow::job, "serial number of the job that the action concerns; -1: none");
    c("rank", &ActionRow::rank, "rank of the pod in that job; -1: none");
    c("pool", &ActionRow::pool, "pool that add_nodes or remove_nodes scales; empty: none");
    c("amount", &ActionRow::amount,
      "resize: new number of replicas; add_nodes, remove_nodes: number of nodes; drain: pods on "
      "the node when it was cordoned");
    c("tries", &ActionRow::tries,
      "requests to evict pods, forced deletions included; for a drain, the sum over its pods");
    c("outcome", &ActionRow::outcome,
      "done: carried out; refused: not possible, or forbidden by a disruption budget; failed: not "
      "stored by the API servers, or not complete in time; under_way: not ended in this run");
    c("why", &ActionRow::why, "reason given by the controller");
    c("reason", &ActionRow::reason,
      "why the action was refused or failed, or why remove_nodes did not remove all nodes");
  }
};

}  // namespace orrery
