#include "models/control_plane/etcd/mvcc_store.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/core/check.hpp"

namespace orrery {
namespace {

double number(Bytes size) { return static_cast<double>(size.count); }

}  // namespace

MvccStore::Amount& MvccStore::Amount::operator+=(const Amount& other) {
  bytes += other.bytes;
  count += other.count;
  return *this;
}

MvccStore::Amount& MvccStore::Amount::operator-=(const Amount& other) {
  bytes = std::max(0.0, bytes - other.bytes);
  count = std::max(0.0, count - other.count);
  return *this;
}

MvccStore::Amount MvccStore::amount(Bytes size, int64_t count) {
  return {number(size), static_cast<double>(count)};
}

MvccStore::MvccStore(Duration compaction_interval, Duration event_ttl)
    : interval_{compaction_interval > Duration{} ? compaction_interval : 5_min},
      compacts_{compaction_interval > Duration{}},
      spans_to_live_{static_cast<size_t>((event_ttl.ns + interval_.ns - 1) / interval_.ns)} {
  ORRERY_CHECK(event_ttl > Duration{}, "the time to live of Events is above 0");
}

void MvccStore::set_rates(Time now, Rates rates) {
  advance(now);
  rates_ = rates;
}

void MvccStore::create(Time now, Bytes size, int64_t count) {
  advance(now);
  objects_ += amount(size, count);
  file_ = std::max(file_, held());
}

void MvccStore::update(Time now, Bytes before, Bytes after) {
  advance(now);
  objects_.bytes += number(after) - number(before);
  old_ += amount(before, after.count > 0 ? 1 : 0);
  file_ = std::max(file_, held());
}

void MvccStore::remove(Time now, Bytes size) {
  advance(now);
  Amount gone = amount(size, size.count > 0 ? 1 : 0);
  gone.bytes = std::min(gone.bytes, objects_.bytes);
  gone.count = std::min(gone.count, objects_.count);
  objects_ -= gone;
  old_ += gone;
}

void MvccStore::add_event(Time now, Bytes size, std::optional<Time> replaced) {
  advance(now);
  if (replaced) {
    const int64_t age = (now - Time{}) / interval_ - (*replaced - Time{}) / interval_;
    const auto spans = static_cast<int64_t>(spans_.size());
    if (age <= spans) {  // else the replaced version has expired
      const Amount before = amount(size, 1);
      (age == 0 ? young_events_ : spans_[static_cast<size_t>(spans - age)]) -= before;
      events_ -= before;
      old_ += before;
    }
  }
  events_ += amount(size, 1);
  young_events_ += amount(size, 1);
  file_ = std::max(file_, held());
}

void MvccStore::drop_old_versions(Time now) {
  advance(now);
  old_ = older_ = {};
}

void MvccStore::defragment(Time now) {
  advance(now);
  file_ = held();
}

Bytes MvccStore::live(Time now) {
  advance(now);
  return nearest_bytes(objects_.bytes + events_.bytes);
}

Bytes MvccStore::events(Time now) {
  advance(now);
  return nearest_bytes(events_.bytes);
}

Bytes MvccStore::in_use(Time now) {
  advance(now);
  return nearest_bytes(held());
}

Bytes MvccStore::file(Time now) {
  advance(now);
  return nearest_bytes(file_);
}

MvccStore::Count MvccStore::count(Time now) {
  advance(now);
  const double keys = objects_.count + events_.count;
  return {.keys = std::llround(keys), .versions = std::llround(keys + old_.count + older_.count)};
}

Time MvccStore::reaches(Time now, Bytes size) const {
  MvccStore later = *this;
  later.advance(now);
  if (later.file_ >= number(size)) return now;
  const double rate = rates_.update_bytes_per_s + rates_.event_bytes_per_s;
  if (rate <= 0) return Time::max();
  // Once all present Events have expired, every interval is like the one before. A size that is not
  // reached by then is never reached.
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
    // After `enough` intervals, all Events that were present at the call have expired, and every
    // interval is like the one before. So the remaining intervals are skipped.
    if (compacts_ && i - first >= enough) since_ = Time{} + interval_ * last;
    if (since_ > end) break;
  }
  pass(now - since_);
  since_ = now;
}

void MvccStore::pass(Duration span) {
  const double seconds = span.seconds();
  const Amount events{rates_.event_bytes_per_s * seconds, rates_.events_per_s * seconds};
  old_ += {rates_.update_bytes_per_s * seconds, rates_.updates_per_s * seconds};
  events_ += events;
  young_events_ += events;
  file_ = std::max(file_, held());
}

void MvccStore::compact() {
  if (compacts_) older_ = std::exchange(old_, {});
  spans_.push_back(std::exchange(young_events_, {}));
  if (spans_.size() <= spans_to_live_) return;
  old_ += spans_.front();
  events_ -= spans_.front();
  spans_.pop_front();
}

}  // namespace orrery
