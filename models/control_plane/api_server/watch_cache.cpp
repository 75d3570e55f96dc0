#include "models/control_plane/api_server/watch_cache.hpp"

#include <algorithm>
#include <utility>

namespace orrery {
namespace {

// The smallest capacity that holds the changes of 75 s at this rate: a power of two times 100, at
// most kRoomMax.
uint64_t room_for(double changes_per_s) {
  uint64_t room = WatchCache::kRoomMin;
  const double needed = changes_per_s * WatchCache::kFresh.seconds();
  while (room < WatchCache::kRoomMax && static_cast<double>(room) < needed) room *= 2;
  return room;
}

}  // namespace

void WatchCache::append(Time now, uint64_t changes) {
  advance(now);
  add(now, changes);
}

void WatchCache::set_rate(Time now, double changes_per_s) {
  advance(now);
  rate_ = changes_per_s;
}

bool WatchCache::can_resume(Time now, Time seen) {
  advance(now);
  return !forgotten_ || *forgotten_ <= seen;
}

void WatchCache::clear(Time now) {
  advance(now);
  runs_.clear();
  held_ = 0;
  dropped_ = changes_;
  room_ = kRoomMin;
  forgotten_ = now;
}

// Adds the steady changes since the last call. If there are more than `enough`, only the newest
// `enough` changes are added. They suffice to fill the cache and to adapt its capacity to the rate.
// While the capacity shrinks, changes are added one by one, because each change may halve the
// capacity.
void WatchCache::advance(Time now) {
  const Time from = std::exchange(advanced_to_, now);
  if (rate_ <= 0 || from == now) return;
  const double before = carried_, due = before + rate_ * (now - from).seconds();
  const auto whole = static_cast<uint64_t>(due);
  carried_ = due - static_cast<double>(whole);
  const auto when = [&](uint64_t change) {
    return std::min(from + nearest_ns((static_cast<double>(change) - before) / rate_), now);
  };
  uint64_t done = 0;
  const uint64_t enough = room_ + room_ / 8 + 4 * room_for(rate_);
  if (whole > enough) {
    done = whole - enough;
    runs_.clear();
    held_ = 0;
    dropped_ = changes_ += done;
    forgotten_ = when(done);
  }
  for (bool is_shrinking = false; done < whole;) {
    const uint64_t room = room_, run = is_shrinking ? 1 : room / 16;
    const uint64_t some = std::min(whole - done, run);
    done += some;
    add(when(done), some);
    is_shrinking = room_ < room;
  }
}

void WatchCache::add(Time when, uint64_t changes) {
  while (changes > 0) {
    if (held_ == room_) resize(when);
    if (held_ == room_) keep(room_ - std::min(changes, room_));
    const uint64_t fitting = std::min(changes, room_ - held_);
    changes_ += fitting;
    held_ += fitting;
    changes -= fitting;
    if (!runs_.empty() && runs_.back().when == when)
      runs_.back().last = changes_;
    else
      runs_.push_back({when, changes_});
  }
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
  const uint64_t gone = changes_ - held_;
  while (!runs_.empty() && runs_.front().last <= gone) {
    forgotten_ = runs_.front().when;
    dropped_ = runs_.front().last;
    runs_.pop_front();
  }
  if (dropped_ < gone) forgotten_ = runs_.front().when;  // a part of the oldest run is dropped
}

Time WatchCache::when_of(uint64_t back) const {
  return std::ranges::lower_bound(runs_, changes_ - back + 1, {}, &Run::last)->when;
}

}  // namespace orrery
