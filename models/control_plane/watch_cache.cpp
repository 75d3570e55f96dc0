#include "models/control_plane/watch_cache.hpp"

#include <algorithm>

namespace orrery {

void WatchCache::append(Time now, uint64_t changes) {
  version_ += changes;
  while (changes > 0) {
    if (held_ == room_) resize(now);
    if (held_ == room_) drop_oldest(std::min(changes, room_));
    const uint64_t fitting = std::min(changes, room_ - held_);
    if (!runs_.empty() && runs_.back().when == now)
      runs_.back().changes += fitting;
    else
      runs_.push_back({now, fitting});
    held_ += fitting;
    changes -= fitting;
  }
}

void WatchCache::clear() {
  runs_.clear();
  held_ = 0;
  room_ = kRoomMin;
}

void WatchCache::resize(Time now) {
  if (now - runs_.front().when < kFresh) {
    room_ = std::min(2 * room_, kRoomMax);
  } else if (now - when_of(room_ / 4) > kFresh) {
    const uint64_t room = std::max(room_ / 2, kRoomMin);
    if (held_ > room) drop_oldest(held_ - room);
    room_ = room;
  }
}

void WatchCache::drop_oldest(uint64_t changes) {
  held_ -= changes;
  while (changes > 0) {
    Run& oldest = runs_.front();
    const uint64_t dropped = std::min(changes, oldest.changes);
    oldest.changes -= dropped;
    changes -= dropped;
    if (oldest.changes == 0) runs_.pop_front();
  }
}

Time WatchCache::when_of(uint64_t back) const {
  for (auto run = runs_.rbegin(); run != runs_.rend(); ++run) {
    if (back <= run->changes) return run->when;
    back -= run->changes;
  }
  return runs_.front().when;
}

// The room is the least power of two times a hundred that lasts 75 s.
Duration watch_cache_span(double changes_per_s) {
  if (changes_per_s <= 0) return Duration::max();
  uint64_t room = WatchCache::kRoomMin;
  while (room < WatchCache::kRoomMax &&
         static_cast<double>(room) < changes_per_s * WatchCache::kFresh.seconds()) {
    room = std::min(2 * room, WatchCache::kRoomMax);
  }
  return nearest_ns(static_cast<double>(room) / changes_per_s);
}

}  // namespace orrery
