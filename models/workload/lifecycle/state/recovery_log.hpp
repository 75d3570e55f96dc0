// models/workload/lifecycle/state/recovery_log.hpp -- recoveries whose lost work is not redone yet.
#pragma once

#include <cstdint>
#include <vector>

#include "models/workload/job/recovery_row.hpp"
#include "sim/engine/signal.hpp"
#include "sim/record/channel.hpp"
#include "sim/runtime/sim.hpp"

namespace orrery {

// Owns the open rows of /events/recoveries. A row is written once the job or pod has regained the
// progress that it had when it stopped. The row is written earlier if the job or pod stops again
// (by a failure, a preemption or a change of membership), is suspended or ends. At the end of the
// run, all open rows are written.
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
  // The job or pod computes again. If nothing stops it, it regains its former progress after
  // `catch_up_in`; Duration::max(): never.
  void resumed(Handle handle, Duration catch_up_in);
  // The pace has changed, so the job now catches up after `catch_up_in`.
  void paced(Handle handle, Duration catch_up_in);
  // Writes the row. A stage whose time is after `now` was not reached and gets kNever.
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
