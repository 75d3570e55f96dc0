// models/workload/lifecycle/state/recovery_log.hpp -- recoveries under way, each until its work is
// caught up.
#pragma once

#include <cstdint>
#include <vector>

#include "models/workload/job/recovery_row.hpp"
#include "sim/engine/signal.hpp"
#include "sim/record/channel.hpp"
#include "sim/runtime/sim.hpp"

namespace orrery {

// Owns the open rows of /events/recoveries. A row is written when the progress is what it was at
// the failure, or when the next failure or the end comes first.
class RecoveryLog {
 public:
  struct Handle {  // goes stale by itself once the row is written
    uint32_t slot = UINT32_MAX;
    uint32_t generation = 0;
  };

  RecoveryLog(Sim sim, const Signal<const RecoveryRow&>& recovered);

  Handle open(const RecoveryRow& row);
  // The open row, to fill in stages; null once it was written.
  RecoveryRow* find(Handle handle);
  // It computes again, and catches up after `catch_up_in` if nothing stops it; max: never.
  void resumed(Handle handle, Duration catch_up_in);
  // It goes at another pace from now on.
  void paced(Handle handle, Duration catch_up_in);
  // Stages that still lie after `now` were not reached.
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
