// models/control_plane/etcd/mvcc_store.hpp -- how large the database of etcd is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "sim/core/time.hpp"

namespace orrery {

// Every write adds a version. A compaction drops the versions that were replaced before the one
// before it, and its pages are used again: the file shrinks only when it is defragmented. Nothing
// is done when a compaction is due, but at the next look.
class MvccStore {
 public:
  struct Rates {  // steady writes, which change no number of objects
    double update_bytes_per_s = 0;
    double event_bytes_per_s = 0;
    double updates_per_s = 0, events_per_s = 0;
  };
  struct Count {
    int64_t keys = 0, versions = 0;  // of all keys, old ones included
  };

  // Zero: never compacted.
  MvccStore(Duration compaction_interval, Duration event_ttl);

  void set_rates(Time now, Rates rates);
  void create(Time now, Bytes size, int64_t count = 1);
  void update(Time now, Bytes before, Bytes after);
  void remove(Time now, Bytes size);
  // Gone after its time to live, which starts anew if it replaces a version written at `replaced`.
  void add_event(Time now, Bytes size, std::optional<Time> replaced = {});
  void drop_old_versions(Time now);  // a compaction up to now
  void defragment(Time now);

  Bytes live(Time now);    // of the newest versions
  Bytes events(Time now);  // unexpired
  Bytes in_use(Time now);  // old ones included
  Bytes file(Time now);    // never less than before, but after defragmentation
  Count count(Time now);
  // When steady writes alone make the file that large; Time::max(): never.
  Time reaches(Time now, Bytes size) const;

 private:
  struct Amount {
    double bytes = 0, count = 0;
    Amount& operator+=(const Amount& other);
    Amount& operator-=(const Amount& other);  // never below zero
  };
  static Amount amount(Bytes size, int64_t count);
  void advance(Time now);
  void pass(Duration span);  // steady writes, up to the next compaction at most
  void compact();
  double held() const { return objects_.bytes + events_.bytes + old_.bytes + older_.bytes; }

  Duration interval_;
  bool compacts_;
  size_t spans_to_live_;  // of events, in whole intervals and the one they were written in
  Rates rates_;
  Time since_;
  Amount objects_;
  Amount events_;             // unexpired
  Amount old_;                // replaced since the last compaction
  Amount older_;              // replaced before it
  double file_ = 0;           // bytes; highest that was held
  Amount young_events_;       // written since the last compaction
  std::deque<Amount> spans_;  // events of the intervals before, oldest first
};

}  // namespace orrery
