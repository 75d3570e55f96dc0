// models/workload/playable_gang.hpp -- what ContendingGangs is told of a gang.
#pragma once

#include <cstdint>
#include <optional>

#include "models/network/flow_network.hpp"
#include "models/workload/step_position.hpp"
#include "sim/core/time.hpp"

namespace orrery {

// Of one that runs, and exchanges across nodes.
struct PlayableGang {
  FlowId flow;         // a standing one
  StepParts shape;     // without uses: they are those of the flow, whose limit is rate_max
  Duration done;       // of its work, all in all
  Duration base;       // of that, when it began its first step
  Duration step{};     // how long one takes at present, by its progress
  Duration in_step{};  // how long ago it began the present one, by that
  int64_t steps = StepPosition::kNever;    // until all is done, from that first one on
  int64_t to_save = StepPosition::kNever;  // steps that end before the next checkpoint
  Duration pause{};                        // left of the present one
  bool is_stopped = false;                 // by somebody else
  bool is_cut_off = false;                 // its exchanges cannot move; it may have no flow
  // An exchange of the steps by which its work says where it is; none: it does not.
  std::optional<Duration> counted_by{};
  bool has_changed = false;  // in this instant: its exchanges last otherwise from now on
};

}  // namespace orrery
