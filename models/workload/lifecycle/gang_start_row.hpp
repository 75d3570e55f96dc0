// models/workload/lifecycle/gang_start_row.hpp -- rows of /events/gang_starts.
#pragma once

#include <cstdint>

#include "sim/core/time.hpp"
#include "sim/record/column.hpp"

namespace orrery {

// One start of a job whose gangs may run without some members.
struct GangStartRow {
  uint64_t job = 0;
  Time called, started;
  int32_t members = 0, pods = 0, gpus = 0;

  static void columns(auto&& c) {
    c("job", &GangStartRow::job, "serial number of the job");
    c("called", &GangStartRow::called,
      "when enough members were up, and workload.controller.last_call began");
    c("started", &GangStartRow::started, "when last_call was over, or all members were up");
    c("members", &GangStartRow::members, "members that were up at the start and so take part",
      "pods");
    c("pods", &GangStartRow::pods, "number of all members", "pods");
    c("gpus", &GangStartRow::gpus, "GPUs of the members that take part", "GPU");
  }
};

}  // namespace orrery
