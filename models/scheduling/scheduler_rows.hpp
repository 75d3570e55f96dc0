// models/scheduling/scheduler_rows.hpp -- what the scheduler writes: one row an attempt.
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
  Time at;
  uint64_t job = 0;
  int32_t rank = 0;
  AttemptOutcome outcome = AttemptOutcome::Scheduled;
  NodeId node;
  uint32_t visited = 0, feasible = 0;
  FixedText<160> message;

  static void columns(auto&& c) {
    c("at", &AttemptRow::at, "start of the scheduling cycle");
    c("job", &AttemptRow::job, "serial of the job");
    c("rank", &AttemptRow::rank, "of the pod in its job; of the first member for a gang");
    c("outcome", &AttemptRow::outcome, "what came of it");
    c("node", &AttemptRow::node, "where it goes, if it was placed");
    c("visited", &AttemptRow::visited, "nodes the filters looked at");
    c("feasible", &AttemptRow::feasible, "nodes found feasible before the search stopped");
    c("message", &AttemptRow::message, "why not, as the event on the pod says it");
  }
};

}  // namespace orrery
