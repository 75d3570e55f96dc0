#include "models/control_plane/watch_cache.hpp"

#include <algorithm>

namespace orrery {

void WatchCache::append(Time now, uint64_t changes) {
  while (changes > 0) {
    if (held_ == room_) resize(now);
    if (held_ == room_) keep(room_ - std::min(changes, room_));
    const uint64_t fitting = std::min(changes, room_ - held_);
    version_ += fitting;
    held_ += fitting;
    changes -= fitting;
    if (!runs_.empty() && runs_.back().when == now)
      runs_.back().last = version_;
    else
      runs_.push_back({now, version_});
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
    room_ = std::max(room_ / 2, kRoomMin);
    if (held_ > room_) keep(room_);
  }
}

void WatchCache::keep(uint64_t newest) {
  held_ = newest;
  while (!runs_.empty() && runs_.front().last <= version_ - held_) runs_.pop_front();
}

Time WatchCache::when_of(uint64_t back) const {
  return std::ranges::lower_bound(runs_, version_ - back + 1, {}, &Run::last)->when;
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
