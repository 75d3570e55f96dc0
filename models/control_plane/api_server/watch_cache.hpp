// models/control_plane/api_server/watch_cache.hpp -- a server's cache of the recent changes of one
// kind of object.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "sim/core/time.hpp"

namespace orrery {

// A ring of the newest changes. When the ring is full, its capacity doubles if the ring covers less
// than 75 s, and halves if its newest quarter alone covers more than 75 s. A client whose last seen
// change is still covered resumes its watch. Other clients get 410 Gone and must list again.
// Example: 100 entries at 10 changes a second cover 10 s, so the ring grows to 800 entries, which
// cover 80 s.
//
// Changes of one instant share a Run. Changes at the rate that set_rate() sets are added at the
// next access of the cache, in chunks of a sixteenth of the capacity.
class WatchCache {
 public:
  static constexpr uint64_t kRoomMin = 100, kRoomMax = 102'400;
  static constexpr Duration kFresh = 75_s;

  void append(Time now, uint64_t changes);
  void set_rate(Time now, double changes_per_s);  // changes not passed to append() one by one
  // Empties the cache when its server restarts. The restarted server knows all objects, but cannot
  // send changes from before the restart as events.
  void clear(Time now);

  // Returns whether all changes after `seen` are cached.
  bool can_resume(Time now, Time seen);
  uint64_t held() const { return held_; }
  uint64_t room() const { return room_; }

 private:
  struct Run {
    Time when;
    uint64_t last;  // sequence number of the last change at `when`
  };
  void advance(Time now);
  void add(Time when, uint64_t changes);
  void resize(Time now);
  void keep(uint64_t newest);         // keeps this many of the newest changes
  Time when_of(uint64_t back) const;  // time of the `back`-th newest change; 1: the newest

  std::deque<Run> runs_;  // oldest first
  uint64_t changes_ = 0, held_ = 0, room_ = kRoomMin;
  uint64_t dropped_ = 0;           // changes up to this one are in dropped Runs
  std::optional<Time> forgotten_;  // time of the newest dropped change
  double rate_ = 0, carried_ = 0;  // steady changes a second; accrued part of a change
  Time advanced_to_;
};

}  // namespace orrery
