// models/control_plane/watch_cache.hpp -- the recent changes of one kind of object that a server
// remembers.
#pragma once

#include <cstdint>
#include <deque>

#include "sim/core/time.hpp"

namespace orrery {

// A ring whose room doubles when it turns over within 75 s, and halves when its last quarter alone
// lasts longer than that. Who watched up to a version that is in it goes on from there; to others
// it is 410 Gone, and they list anew. Many changes of one instant are kept as one entry.
class WatchCache {
 public:
  static constexpr uint64_t kRoomMin = 100, kRoomMax = 102'400;
  static constexpr Duration kFresh = 75_s;

  // What the objects themselves take is the caller's to add up.
  void append(Time now, uint64_t changes);
  void clear();  // the server was lost: versions go on, nothing is remembered

  uint64_t version() const { return version_; }  // of the newest change
  // Whether all changes after `version` are remembered.
  bool can_resume(uint64_t version) const { return version + held_ >= version_; }
  uint64_t held() const { return held_; }
  uint64_t room() const { return room_; }
  Bytes memory(Bytes object) const { return object * static_cast<int64_t>(held_); }

 private:
  struct Run {
    Time when;
    uint64_t last;  // version
  };
  void resize(Time now);
  void keep(uint64_t newest);         // as many
  Time when_of(uint64_t back) const;  // of the newest change, if that is 1

  std::deque<Run> runs_;  // oldest first
  uint64_t version_ = 0, held_ = 0, room_ = kRoomMin;
};

// How long a watcher stays able to resume while changes come at a steady rate.
Duration watch_cache_span(double changes_per_s);

}  // namespace orrery
