#include "models/workload/lifecycle/state/recovery_log.hpp"

namespace orrery {

RecoveryLog::RecoveryLog(Sim sim, const Signal<const RecoveryRow&>& recovered)
    : sim_{sim},
      recovered_{recovered},
      rows_{sim.recorder, "/events/recoveries",
            "Stops of gangs and independent pods (failures, preemptions, evictions, membership "
            "changes) and their recoveries."} {}

RecoveryLog::Handle RecoveryLog::open(const RecoveryRow& row) {
  if (free_.empty()) {
    free_.push_back(static_cast<uint32_t>(entries_.size()));
    entries_.emplace_back();
  }
  const uint32_t slot = free_.back();
  free_.pop_back();
  Entry& entry = entries_[slot];
  entry.row = row;
  entry.caught_up = {};
  entry.is_open = true;
  return {slot, ++entry.generation};
}

RecoveryRow* RecoveryLog::find(Handle handle) {
  if (handle.slot >= entries_.size()) return nullptr;
  Entry& entry = entries_[handle.slot];
  return entry.is_open && entry.generation == handle.generation ? &entry.row : nullptr;
}

void RecoveryLog::resumed(Handle handle, Duration catch_up_in) {
  RecoveryRow* const row = find(handle);
  if (row == nullptr) return;
  row->resumed = sim_.engine.now();
  paced(handle, catch_up_in);
}

void RecoveryLog::paced(Handle handle, Duration catch_up_in) {
  if (find(handle) == nullptr) return;
  EventId& event = entries_[handle.slot].caught_up;
  sim_.engine.cancel(event);
  if (catch_up_in == Duration::max()) return;
  const auto catch_up = [this, handle] {
    find(handle)->caught_up = sim_.engine.now();
    close(handle, sim_.engine.now());
  };
  if (catch_up_in == Duration{}) {
    catch_up();
    return;
  }
  event = sim_.engine.after(catch_up_in, Label{"jobs.caught_up"}, catch_up);
}

void RecoveryLog::close(Handle handle, Time now) {
  RecoveryRow* const row = find(handle);
  if (row == nullptr) return;
  if (row->detected > now) row->detected = kNever;
  if (row->started > now) row->started = kNever;
  Entry& entry = entries_[handle.slot];
  sim_.engine.cancel(entry.caught_up);
  entry.is_open = false;
  free_.push_back(handle.slot);
  // A copy, because an observer may open another recovery, which may move entries_ in memory.
  const RecoveryRow written = *row;
  rows_.emit(written);
  recovered_.emit(written);
}

}  // namespace orrery
