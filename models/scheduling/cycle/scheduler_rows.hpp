// models/scheduling/cycle/scheduler_rows.hpp -- what the scheduler writes of its attempts.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "sim/core/id.hpp"
#include "sim/core/time.hpp"
#include "sim/record/column.hpp"

namespace orrery {

enum class AttemptOutcome : uint8_t {
  Scheduled,
  Waiting,
  Unschedulable,
  Rejected,
  TimedOut,
  Error
};
constexpr std::array<std::string_view, 6> enum_names(AttemptOutcome) {
  return {"scheduled", "waiting_in_permit", "unschedulable",
          "rejected",  "permit_timed_out",  "error"};
}

struct AttemptRow {
  uint64_t attempt = 0;
  Time at;
  uint64_t job = 0;
  int32_t rank = 0;
  AttemptOutcome outcome = AttemptOutcome::Scheduled;
  NodeId node;
  uint32_t visited = 0, feasible = 0;
  int32_t pods = 1, placeable = -1;
  uint32_t domains = 1;
  NodeId nominated;
  uint32_t victims = 0;
  FixedText<160> message;

  static void columns(auto&& c) {
    c("attempt", &AttemptRow::attempt, "number by which /events/rejections names it");
    c("at", &AttemptRow::at, "start of the scheduling cycle");
    c("job", &AttemptRow::job, "serial of the job");
    c("rank", &AttemptRow::rank, "of the pod in its job; of the first member for a gang");
    c("outcome", &AttemptRow::outcome, "what came of it");
    c("node", &AttemptRow::node, "where it goes, if it was placed");
    c("visited", &AttemptRow::visited, "nodes the filters looked at");
    c("feasible", &AttemptRow::feasible, "nodes found feasible before the search stopped");
    c("pods", &AttemptRow::pods, "tried together: members of a gang that is placed as a whole",
      "pods");
    c("placeable", &AttemptRow::placeable,
      "of these, the most for which there was room; by whole GPUs alone where these are too few; "
      "-1: not counted",
      "pods");
    c("domains", &AttemptRow::domains, "sets of nodes on which the gang was tried");
    c("nominated", &AttemptRow::nominated,
      "where room is made, or kept, for a pod that found none; 4294967295: nowhere");
    c("victims", &AttemptRow::victims, "pods that this attempt preempted", "pods");
    c("message", &AttemptRow::message, "why not, as the event on the pod says it");
  }
};

// One pod that the scheduler deleted to make room for another one.
struct PreemptionRow {
  Time at;
  NodeId node;
  uint64_t job = 0;
  int32_t rank = 0, priority = 0;
  uint64_t by_job = 0;
  int32_t by_rank = 0, by_priority = 0;

  static void columns(auto&& c) {
    c("at", &PreemptionRow::at, "when its deletion was stored, and it was told to end");
    c("node", &PreemptionRow::node, "where the pod was");
    c("job", &PreemptionRow::job, "serial of its job");
    c("rank", &PreemptionRow::rank, "which pod of that job");
    c("priority", &PreemptionRow::priority, "its priority");
    c("by_job", &PreemptionRow::by_job, "serial of the job that gets room");
    c("by_rank", &PreemptionRow::by_rank, "which pod of that job");
    c("by_priority", &PreemptionRow::by_priority, "the priority of that pod");
  }
};

constexpr size_t kWhichMax = 256;

// One reason against an attempt that failed.
struct RejectionRow {
  uint64_t attempt = 0;
  FixedText<40> plugin;
  FixedText<96> reason;
  uint32_t nodes = 0;
  bool is_noted = false, is_unresolvable = false;
  FixedText<kWhichMax> which;

  static void columns(auto&& c) {
    c("attempt", &RejectionRow::attempt, "number in /events/attempts");
    c("plugin", &RejectionRow::plugin, "who said no");
    c("reason", &RejectionRow::reason, "why, as the event on the pod says it");
    c("nodes", &RejectionRow::nodes, "nodes it took away; 0: it turned the pods down as such",
      "nodes");
    c("is_noted", &RejectionRow::is_noted,
      "these nodes were taken away for another reason and have this one, too");
    c("is_unresolvable", &RejectionRow::is_unresolvable,
      "no pod that leaves these nodes could help");
    c("which", &RejectionRow::which,
      "numbers of these nodes; where they would take too much room, some between them, too; "
      "empty: not told");
  }
};

}  // namespace orrery
