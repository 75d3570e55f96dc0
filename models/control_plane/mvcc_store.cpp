#include "models/control_plane/mvcc_store.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/core/check.hpp"

namespace orrery {
namespace {

Bytes nearest_bytes(double count) { return {std::llround(count)}; }
double number(Bytes size) { return static_cast<double>(size.count); }

}  // namespace

MvccStore::MvccStore(Duration compaction_interval, Duration event_ttl)
    : interval_{compaction_interval > Duration{} ? compaction_interval : 5_min},
      compacts_{compaction_interval > Duration{}},
      spans_to_live_{static_cast<size_t>((event_ttl.ns + interval_.ns - 1) / interval_.ns)} {
  ORRERY_CHECK(event_ttl > Duration{}, "events live for a while");
}

void MvccStore::set_rates(Time now, Rates rates) {
  advance(now);
  rates_ = rates;
}

void MvccStore::create(Time now, Bytes size) {
  advance(now);
  objects_ += number(size);
  file_ = std::max(file_, held());
}

void MvccStore::update(Time now, Bytes before, Bytes after) {
  advance(now);
  objects_ += number(after) - number(before);
  old_ += number(before);
  file_ = std::max(file_, held());
}

void MvccStore::remove(Time now, Bytes size) {
  advance(now);
  const double gone = std::min(objects_, number(size));
  objects_ -= gone;
  old_ += gone;
}

void MvccStore::add_event(Time now, Bytes size) {
  advance(now);
  events_ += number(size);
  young_events_ += number(size);
  file_ = std::max(file_, held());
}

void MvccStore::defragment(Time now) {
  advance(now);
  file_ = held();
}

Bytes MvccStore::live(Time now) {
  advance(now);
  return nearest_bytes(objects_ + events_);
}

Bytes MvccStore::events(Time now) {
  advance(now);
  return nearest_bytes(events_);
}

Bytes MvccStore::in_use(Time now) {
  advance(now);
  return nearest_bytes(held());
}

Bytes MvccStore::file(Time now) {
  advance(now);
  return nearest_bytes(file_);
}

Time MvccStore::reaches(Time now, Bytes size) const {
  MvccStore later = *this;
  later.advance(now);
  if (later.file_ >= number(size)) return now;
  const double rate = rates_.update_bytes_per_s + rates_.event_bytes_per_s;
  if (rate <= 0) return Time::max();
  // After all events of today expired, every interval is as the one before.
  for (size_t i = 0; i < spans_to_live_ + 4 || !compacts_; ++i) {
    const Time crossing = later.since_ + nearest_ns((number(size) - later.held()) / rate);
    if (!compacts_) return crossing;
    const Time next = Time{} + interval_ * ((later.since_ - Time{}) / interval_ + 1);
    if (crossing <= next) return crossing;
    later.advance(next);
  }
  return Time::max();
}

void MvccStore::advance(Time now) {
  ORRERY_CHECK(now >= since_, "the store is not asked about the past");
  const int64_t first = (since_ - Time{}) / interval_, last = (now - Time{}) / interval_;
  const auto enough = static_cast<int64_t>(spans_to_live_) + 4;
  for (int64_t i = first; i < last; ++i) {
    const Time end = Time{} + interval_ * (i + 1);
    pass(end - since_);
    compact();
    since_ = end;
    // Once all that was there before is gone, every interval ends as it began.
    if (compacts_ && i - first >= enough) since_ = Time{} + interval_ * last;
    if (since_ > end) break;
  }
  pass(now - since_);
  since_ = now;
}

void MvccStore::pass(Duration span) {
  old_ += rates_.update_bytes_per_s * span.seconds();
  events_ += rates_.event_bytes_per_s * span.seconds();
  young_events_ += rates_.event_bytes_per_s * span.seconds();
  file_ = std::max(file_, held());
}

void MvccStore::compact() {
  if (compacts_) older_ = std::exchange(old_, 0.0);
  spans_.push_back(std::exchange(young_events_, 0.0));
  if (spans_.size() <= spans_to_live_) return;
  old_ += spans_.front();
  events_ = std::max(0.0, events_ - spans_.front());
  spans_.pop_front();
}

}  // namespace orrery
