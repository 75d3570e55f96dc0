// models/control_plane/etcd/mvcc_store.hpp -- the size of etcd's database.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "sim/core/time.hpp"

namespace orrery {

// Every write adds a version. A compaction drops the versions that were replaced before the
// previous compaction. Their pages are reused: the file shrinks only by defragmentation.
// Compactions are computed at the next access, not as events. Example: an object of 1 kB is updated
// 10 times between the first and the second compaction. It uses 11 kB until the third compaction,
// and 1 kB from then on.
class MvccStore {
 public:
  struct Rates {  // of steady writes: updates of objects, and new Events
    double update_bytes_per_s = 0;
    double event_bytes_per_s = 0;
    double updates_per_s = 0, events_per_s = 0;
  };
  struct Count {
    int64_t keys = 0, versions = 0;  // versions include old ones
  };

  // With a `compaction_interval` of zero, only drop_old_versions() compacts the store.
  MvccStore(Duration compaction_interval, Duration event_ttl);

  void set_rates(Time now, Rates rates);
  void create(Time now, Bytes size, int64_t count = 1);
  void update(Time now, Bytes before, Bytes after);
  void remove(Time now, Bytes size);  // zero bytes: the object is not there, so no version is added
  // Adds an Event, or a new version of the Event that was last written at `replaced`. The Event's
  // time to live starts now.
  void add_event(Time now, Bytes size, std::optional<Time> replaced = {});
  void drop_old_versions(Time now);  // a compaction up to now
  void defragment(Time now);

  Bytes live(Time now);    // size of the newest versions, unexpired Events included
  Bytes events(Time now);  // size of unexpired Events
  Bytes in_use(Time now);  // size of all versions, old ones included
  Bytes file(Time now);    // never shrinks, except by defragmentation
  Count count(Time now);
  // Time at which steady writes alone bring the file to this size; Time::max(): never.
  Time reaches(Time now, Bytes size) const;

 private:
  struct Amount {
    double bytes = 0, count = 0;
    Amount& operator+=(const Amount& other);
    Amount& operator-=(const Amount& other);  // clamped at zero
  };
  static Amount amount(Bytes size, int64_t count);
  void advance(Time now);
  void pass(Duration span);  // adds the steady writes of a span without a compaction inside
  void compact();
  double held() const { return objects_.bytes + events_.bytes + old_.bytes + older_.bytes; }

  Duration interval_;
  bool compacts_;
  // For how many whole intervals an Event is kept, after the interval in which it was written.
  size_t spans_to_live_;
  Rates rates_;
  Time since_;
  Amount objects_;
  Amount events_;             // unexpired
  Amount old_;                // replaced since the last compaction
  Amount older_;              // replaced before the last compaction
  double file_ = 0;           // bytes; the maximum of held() since the last defragmentation
  Amount young_events_;       // written since the last compaction
  std::deque<Amount> spans_;  // Events of earlier intervals, oldest first
};

}  // namespace orrery
