// models/scenario/record_params.hpp -- the section `record` of a scenario.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/facts/fact.hpp"
#include "models/scheduling/feasibility/deadlock_params.hpp"
#include "models/telemetry/cardiogram_params.hpp"
#include "models/telemetry/timeline_params.hpp"
#include "sim/config/fields.hpp"

namespace orrery {

struct RecordParams {
  static constexpr std::string_view kDoc = "What goes into the output file.";

  TimelineParams timeline = {};
  DeadlockParams deadlocks = {};
  std::optional<CardiogramParams> cardiogram = {};
  bool pods = true;
  bool attempts = false;
  std::vector<std::string> off = {};
  int32_t compression = 1;

  template <class V>
  void fields(V& v) {
    v("timeline", timeline, "Series sampled over time.");
    v("deadlocks", deadlocks, "Which waiting gangs count as deadlocked.", Heeded{Fact::Pods});
    v("cardiogram", cardiogram,
      "Activity of each GPU of chosen jobs at fine time steps; absent: not recorded.",
      Heeded{Fact::Pods});
    v("pods", pods,
      "Write /pods, with one row for each pod. A pod that replaces another has its own row.");
    v("attempts", attempts,
      "Write one row per scheduling attempt in /events/attempts, one row per reason of a failed "
      "attempt in /events/rejections, and decisions of the job queue in /events/job_queue.");
    v("off", off, "Tables that are not written, as glob patterns of their names.",
      Example{"[/timeline/teams]"});
    v("compression", compression, "Deflate level of the tables; 0: no compression.", Range{0, 9},
      Source{"level 1 saves most of the space that level 0 takes, but writing takes about 5 times "
             "as long as with level 0"});
  }
};

}  // namespace orrery
