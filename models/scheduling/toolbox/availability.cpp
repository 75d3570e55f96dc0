#include "models/scheduling/toolbox/availability.hpp"

#include <algorithm>

#include "sim/core/check.hpp"

namespace orrery {

void Availability::reset(const JobBoard& board, Duration resolution) {
  const Time now = board.now();
  steps_.clear();
  steps_.push_back({now, board.free()});
  board.running().for_each([&](JobSlot slot) {
    const QueuedJob& job = board.job(slot);
    Time end = std::max(job.progress.expected_end, now);
    if (resolution > Duration{}) {
      const Duration over = (end - now) % resolution;
      if (over > Duration{}) end = end + (resolution - over);
    }
    const int64_t free = steps_.back().free + job.ask.count;
    if (end == steps_.back().from) {
      steps_.back().free = free;
    } else {
      steps_.push_back({end, free});
    }
  });
}

void Availability::advance(Time now) {
  size_t passed = 0;
  while (passed + 1 < steps_.size() && steps_[passed + 1].from <= now) ++passed;
  steps_.erase(steps_.begin(), steps_.begin() + static_cast<std::ptrdiff_t>(passed));
  steps_.front().from = now;
}

Time Availability::earliest(int64_t count, Duration span) const {
  for (size_t i = 0; i < steps_.size();) {
    if (steps_[i].free < count) {
      ++i;
      continue;
    }
    const Time end = steps_[i].from + span;
    size_t j = i + 1;
    while (j < steps_.size() && steps_[j].from < end && steps_[j].free >= count) ++j;
    if (j == steps_.size() || steps_[j].from >= end) return steps_[i].from;
    i = j + 1;
  }
  return Time::max();
}

size_t Availability::step_from(Time when) {
  const auto at = std::ranges::lower_bound(steps_, when, {}, &Step::from);
  const auto index = static_cast<size_t>(at - steps_.begin());
  if (at != steps_.end() && at->from == when) return index;
  ORRERY_CHECK(index > 0, "reservations begin now or later");
  steps_.insert(at, {when, steps_[index - 1].free});
  return index;
}

void Availability::reserve(Time start, Duration span, int64_t count) {
  const size_t first = step_from(start);
  const Time end = start + span;
  const size_t last = end == Time::max() ? steps_.size() : step_from(end);
  for (size_t i = first; i < last; ++i) steps_[i].free -= count;
}

}  // namespace orrery
