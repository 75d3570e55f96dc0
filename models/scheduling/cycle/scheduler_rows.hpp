// models/scheduling/cycle/scheduler_rows.hpp -- rows of attempts, preemptions and rejections.
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
    c("attempt", &AttemptRow::attempt, "number of the attempt, as in /events/rejections");
    c("at", &AttemptRow::at, "start of the scheduling cycle");
    c("job", &AttemptRow::job, "serial of the job");
    c("rank", &AttemptRow::rank,
      "rank of the pod in its job. If a whole gang failed: rank of the first member without a "
      "node");
    c("outcome", &AttemptRow::outcome,
      "unschedulable: no placement was found; rejected: the pod had a node, but a plugin rejected "
      "or preempted the pod; error: for example, binding failed");
    c("node", &AttemptRow::node, "node that the pod got");
    c("visited", &AttemptRow::visited, "nodes that Filter plugins examined");
    c("feasible", &AttemptRow::feasible, "nodes found feasible before the search stopped");
    c("pods", &AttemptRow::pods,
      "pods tried together: 1, or the members of a gang that is placed as a whole", "pods");
    c("placeable", &AttemptRow::placeable,
      "maximum number of pods of the gang that fitted into one domain; -1: not counted. In "
      "a domain with too few free GPUs for the gang, this is the number of pods for which the free "
      "GPUs suffice",
      "pods");
    c("domains", &AttemptRow::domains, "domains (sets of nodes) on which the gang was tried");
    c("nominated", &AttemptRow::nominated, "nominated node of a pod without a feasible node");
    c("victims", &AttemptRow::victims, "victims that this attempt preempted", "pods");
    c("message", &AttemptRow::message,
      "why the attempt failed, in the words of the pod's FailedScheduling event");
  }
};

// One pod that the scheduler deleted to make room for another pod.
struct PreemptionRow {
  Time at;
  NodeId node;
  uint64_t job = 0;
  int32_t rank = 0, priority = 0;
  uint64_t by_job = 0;
  int32_t by_rank = 0, by_priority = 0;

  static void columns(auto&& c) {
    c("at", &PreemptionRow::at, "when the pod began to terminate");
    c("node", &PreemptionRow::node, "node of the pod");
    c("job", &PreemptionRow::job, "serial of the pod's job");
    c("rank", &PreemptionRow::rank, "rank of the pod in that job");
    c("priority", &PreemptionRow::priority, "priority of the pod");
    c("by_job", &PreemptionRow::by_job, "serial of the preemptor's job");
    c("by_rank", &PreemptionRow::by_rank, "rank of the preemptor in its job");
    c("by_priority", &PreemptionRow::by_priority, "priority of the preemptor");
  }
};

constexpr size_t kWhichMax = 256;

// One reason of a failed attempt.
struct RejectionRow {
  uint64_t attempt = 0;
  FixedText<40> plugin;
  FixedText<96> reason;
  uint32_t nodes = 0;
  bool is_noted = false, is_unresolvable = false;
  FixedText<kWhichMax> which;

  static void columns(auto&& c) {
    c("attempt", &RejectionRow::attempt, "number of the attempt, as in /events/attempts");
    c("plugin", &RejectionRow::plugin, "plugin that rejected the nodes or the pods");
    c("reason", &RejectionRow::reason, "reason, in the words of the pod's FailedScheduling event");
    c("nodes", &RejectionRow::nodes,
      "nodes that the plugin rejected; 0: it rejected the pods themselves", "nodes");
    c("is_noted", &RejectionRow::is_noted,
      "another row of the attempt already counts these nodes, but this reason applies to them, "
      "too");
    c("is_unresolvable", &RejectionRow::is_unresolvable,
      "preemption cannot help: evicting pods from the rejected nodes would not make them feasible");
    c("which", &RejectionRow::which,
      "ids of the rejected nodes, as ranges such as 0-7,12. If the list is too long, near ranges "
      "are joined, and the nodes between them are included. Empty if is_noted is true or "
      "nodes is 0");
  }
};

}  // namespace orrery
