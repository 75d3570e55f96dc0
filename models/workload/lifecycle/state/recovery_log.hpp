// models/workload/lifecycle/state/recovery_log.hpp -- open recoveries, each until its lost work is
// redone.
#pragma once

#include <cstdint>
#include <vector>

#include "models/workload/job/recovery_row.hpp"
#include "sim/engine/signal.hpp"
#include "sim/record/channel.hpp"
#include "sim/runtime/sim.hpp"

namespace orrery {

// Owns the open rows of /events/recoveries. A row is written once the job or pod has regained the
// progress that it had when it stopped. It is written earlier at the next stop (by a failure, a
// preemption or a change of membership), at a suspension, and at the end of the job or the run.
class RecoveryLog {
 public:
  struct Handle {  // becomes stale once the row is written
    uint32_t slot = UINT32_MAX;
    uint32_t generation = 0;
  };

  RecoveryLog(Sim sim, const Signal<const RecoveryRow&>& recovered);

  Handle open(const RecoveryRow& row);
  // The open row, whose stages the caller fills in; null once the row is written.
  RecoveryRow* find(Handle handle);
  // The job computes again, and catches up after `catch_up_in` if nothing stops it; max: never.
  void resumed(Handle handle, Duration catch_up_in);
  // The pace has changed, so the job now catches up after `catch_up_in`.
  void paced(Handle handle, Duration catch_up_in);
  // Writes the row. Stages later than `now` were not reached.
  void close(Handle handle, Time now);

 private:
  struct Entry {
    RecoveryRow row;
    EventId caught_up;
    uint32_t generation = 0;
    bool is_open = false;
  };
  Sim sim_;
  const Signal<const RecoveryRow&>& recovered_;
  std::vector<Entry> entries_;
  std::vector<uint32_t> free_;
  Channel<RecoveryRow> rows_;
};

}  // namespace orrery
