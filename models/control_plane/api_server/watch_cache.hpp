// models/control_plane/api_server/watch_cache.hpp -- the recent changes of one kind of object that
// a server remembers.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "sim/core/time.hpp"

namespace orrery {

// A ring whose room doubles when it turns over within 75 s, and halves when its last quarter alone
// lasts longer than that. Who watched until an instant after which it remembers all goes on from
// there; to others it is 410 Gone, and they list anew. Many changes of one instant are kept as one
// entry, and steady ones as a sixteenth of the room each, counted at the next look.
class WatchCache {
 public:
  static constexpr uint64_t kRoomMin = 100, kRoomMax = 102'400;
  static constexpr Duration kFresh = 75_s;

  void append(Time now, uint64_t changes);
  void set_rate(Time now, double changes_per_s);  // of steady changes
  // The server begins anew: what changed before is in what it listed, but it cannot tell of it.
  void clear(Time now);

  // Whether all that changed after `seen` is remembered.
  bool can_resume(Time now, Time seen);
  uint64_t held() const { return held_; }
  uint64_t room() const { return room_; }

 private:
  struct Run {
    Time when;
    uint64_t last;  // number of the change
  };
  void advance(Time now);
  void add(Time when, uint64_t changes);
  void resize(Time now);
  void keep(uint64_t newest);         // as many
  Time when_of(uint64_t back) const;  // of the newest change, if that is 1

  std::deque<Run> runs_;  // oldest first
  uint64_t changes_ = 0, held_ = 0, room_ = kRoomMin;
  uint64_t dropped_ = 0;           // last change of the runs that are gone
  std::optional<Time> forgotten_;  // the newest change that is not remembered
  double rate_ = 0, carried_ = 0;  // steady changes a second; part of one that is due
  Time advanced_to_;
};

}  // namespace orrery
