#include "models/control_plane/flow_control/priority_and_fairness.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/core/check.hpp"

namespace orrery {

PriorityAndFairness::PriorityAndFairness(FlowControlSetup setup)
    : setup_{std::move(setup)}, guess_{setup_.service_guess.seconds()} {
  for (const LevelSetup& level_setup : setup_.levels) {
    Level level;
    level.setup = level_setup;
    level.limit = level_setup.seats;
    if (level_setup.kind == LevelKind::Queue) {
      level.sharding.emplace(level_setup.queues, level_setup.hand);
      level.queues.resize(static_cast<size_t>(level_setup.queues));
    }
    levels_.push_back(std::move(level));
  }
  if (setup_.adjust_every.ns > 0) next_adjustment_ = Time{} + setup_.adjust_every;
}

// Returns whether a request of this width may start. A request wider than its level's seats
// executes alone.
bool PriorityAndFairness::fits(const Level& level, int32_t width) const {
  const auto background = static_cast<int32_t>(std::ceil(level.background - 1e-9));
  return level.in_use == 0 || level.in_use + background + width <= level.limit;
}

// Virtual time passes at min(seats, limit) / busy queues. Here, seats are those of all waiting and
// executing requests; background seats are not counted. A queue is busy while it has requests,
// waiting or executing. Virtual time restarts from 0 when no queue is busy.
void PriorityAndFairness::account(Level& level, Time now) {
  const double passed = (now - level.since).seconds();
  if (passed <= 0) return;
  level.since = now;
  const double demand = level.present_demand();
  level.demand += demand * passed;
  level.squares += demand * demand * passed;
  if (level.busy_queues == 0) {
    level.virtual_time = 0;
  } else {
    const double seats = std::min(level.waiting_seats + level.in_use, level.limit);
    level.virtual_time += passed * seats / level.busy_queues;
  }
}

bool PriorityAndFairness::arrive(const Arrival& arrival, Time now) {
  advance(now);
  Level& level = levels_[arrival.level];
  account(level, now);
  if (arrival.request >= entries_.size()) entries_.resize(arrival.request + 1);
  Entry& entry = entries_[arrival.request];
  ORRERY_CHECK(entry.state == State::Absent, "a request arrives once");
  entry = {};
  entry.level = arrival.level;
  entry.width = arrival.width;
  if (level.setup.kind != LevelKind::Queue) {
    if (level.setup.kind == LevelKind::Reject && !fits(level, arrival.width)) return false;
    ++present_;
    start(level, arrival.request, now);
    return true;
  }
  const uint32_t queue = choose_queue(level, arrival.flow);
  // While a seat is free, even a full queue accepts a request. A seat may be free although requests
  // wait: the next request to execute may need more seats than are free.
  const bool is_full = level.queues[queue].waiting >= level.setup.queue_length;
  if (is_full && !fits(level, 1)) return false;
  ++present_;
  enqueue(level, queue, arrival.request, now);
  dispatch(level, now);
  level.high = std::max(level.high, level.present_demand());
  return true;
}

uint32_t PriorityAndFairness::choose_queue(Level& level, uint64_t flow) {
  if (level.queues.size() == 1) return 0;
  const ShuffleSharding::Hand hand = level.sharding->deal(flow_hash(flow));
  const auto size = static_cast<uint32_t>(level.sharding->hand());
  const uint32_t offset = level.deals++ % size;
  uint32_t best = kNone;
  std::pair<int32_t, int32_t> least{};  // seats waiting and held
  for (uint32_t i = 0; i < size; ++i) {
    const uint32_t at = offset + i < size ? offset + i : offset + i - size;
    const Queue& queue = level.queues[hand[at]];
    const std::pair load{queue.waiting_seats, queue.seats};
    if (best != kNone && load >= least) continue;
    best = hand[at];
    least = load;
  }
  return best;
}

void PriorityAndFairness::enqueue(Level& level, uint32_t index, uint32_t request, Time now) {
  Queue& queue = level.queues[index];
  Entry& entry = entries_[request];
  entry.state = State::Waiting;
  entry.queue = index;
  entry.since = now;
  if (queue.waiting == 0 && queue.executing == 0) {
    queue.virtual_start = level.virtual_time;
    ++level.busy_queues;
  }
  entry.previous = std::exchange(queue.last, request);
  if (entry.previous == kNone) {
    queue.first = request;
    level.next_queue.push(index, level.finish_of(queue, entry.width, guess_));
  } else {
    entries_[entry.previous].next = request;
  }
  entry.earlier = std::exchange(newest_, request);
  (entry.earlier == kNone ? oldest_ : entries_[entry.earlier].later) = request;
  ++queue.waiting;
  queue.waiting_seats += entry.width;
  ++level.waiting;
  level.waiting_seats += entry.width;
  ++waiting_;
}

void PriorityAndFairness::leave_queue(Level& level, uint32_t request) {
  Entry& entry = entries_[request];
  Queue& queue = level.queues[entry.queue];
  const bool was_first = queue.first == request;
  (entry.previous == kNone ? queue.first : entries_[entry.previous].next) = entry.next;
  (entry.next == kNone ? queue.last : entries_[entry.next].previous) = entry.previous;
  (entry.earlier == kNone ? oldest_ : entries_[entry.earlier].later) = entry.later;
  (entry.later == kNone ? newest_ : entries_[entry.later].earlier) = entry.earlier;
  entry.previous = entry.next = entry.earlier = entry.later = kNone;
  --queue.waiting;
  queue.waiting_seats -= entry.width;
  --level.waiting;
  level.waiting_seats -= entry.width;
  --waiting_;
  if (queue.first == kNone) {
    level.next_queue.erase(entry.queue);
  } else if (was_first) {
    level.next_queue.update(entry.queue,
                            level.finish_of(queue, entries_[queue.first].width, guess_));
  }
}

// The queue with the smallest virtual finish blocks all others while its first request is too wide
// for the free seats.
void PriorityAndFairness::dispatch(Level& level, Time now) {
  while (level.waiting > 0) {
    Queue& queue = level.queues[level.next_queue.top()];
    const uint32_t request = queue.first;
    const int32_t width = entries_[request].width;
    if (!fits(level, width)) return;
    queue.virtual_start += guess_ * width;
    ++queue.executing;
    queue.seats += width;
    leave_queue(level, request);
    start(level, request, now);
  }
}

void PriorityAndFairness::start(Level& level, uint32_t request, Time now) {
  Entry& entry = entries_[request];
  entry.state = State::Executing;
  entry.since = now;
  level.in_use += entry.width;
  level.high = std::max(level.high, level.present_demand());
  started_.push_back(request);
}

void PriorityAndFairness::finish(uint32_t request, Time now) {
  advance(now);
  Entry& entry = entries_[request];
  ORRERY_CHECK(entry.state == State::Executing, "only an executing request finishes");
  Level& level = levels_[entry.level];
  account(level, now);
  level.in_use -= entry.width;
  entry.state = State::Absent;
  --present_;
  if (entry.queue == kNone) return;
  Queue& queue = level.queues[entry.queue];
  --queue.executing;
  queue.seats -= entry.width;
  queue.virtual_start -= (guess_ - (now - entry.since).seconds()) * entry.width;
  if (queue.waiting > 0) {
    level.next_queue.update(entry.queue,
                            level.finish_of(queue, entries_[queue.first].width, guess_));
  } else if (queue.executing == 0) {
    --level.busy_queues;
  }
  dispatch(level, now);
}

void PriorityAndFairness::abandon(uint32_t request, Time now) {
  advance(now);
  Entry& entry = entries_[request];
  ORRERY_CHECK(entry.state == State::Waiting, "only a waiting request is abandoned");
  Level& level = levels_[entry.level];
  account(level, now);
  leave_queue(level, request);
  entry.state = State::Absent;
  --present_;
  const Queue& queue = level.queues[entry.queue];
  if (queue.waiting == 0 && queue.executing == 0) --level.busy_queues;
  dispatch(level, now);  // the request may have been too wide, and blocked others
}

std::optional<uint32_t> PriorityAndFairness::take_started() {
  if (started_taken_ == started_.size()) {
    started_.clear();
    started_taken_ = 0;
    return {};
  }
  return started_[started_taken_++];
}

std::optional<uint32_t> PriorityAndFairness::take_expired(Time now) {
  advance(now);
  if (oldest_ == kNone || entries_[oldest_].since + setup_.wait_limit > now) return {};
  const uint32_t request = oldest_;
  abandon(request, now);
  return request;
}

Time PriorityAndFairness::next_event() const {
  if (oldest_ == kNone) return Time::max();
  return std::min(entries_[oldest_].since + setup_.wait_limit, next_adjustment_);
}

void PriorityAndFairness::reset(Time now) {
  advance(now);
  for (Level& level : levels_) {
    account(level, now);
    level.queues.assign(level.queues.size(), {});
    level.next_queue.clear();
    level.in_use = level.waiting = level.waiting_seats = level.busy_queues = 0;
  }
  for (Entry& entry : entries_) entry = {};
  started_.clear();
  started_taken_ = 0;
  oldest_ = newest_ = kNone;
  present_ = waiting_ = 0;
}

void PriorityAndFairness::set_background(uint32_t level, double seats, Time now) {
  advance(now);
  account(levels_[level], now);
  levels_[level].background = seats;
  levels_[level].high = std::max(levels_[level].high, levels_[level].present_demand());
  dispatch(levels_[level], now);
}

PriorityAndFairness::LevelState PriorityAndFairness::state(uint32_t level) const {
  return {levels_[level].limit, levels_[level].in_use, levels_[level].waiting};
}

void PriorityAndFairness::advance(Time now) {
  if (now < next_adjustment_) [[likely]]
    return;
  while (next_adjustment_ <= now) {
    close_period(next_adjustment_);
    next_adjustment_ = next_adjustment_ + setup_.adjust_every;
    // Skips the following periods, which change nothing.
    if (next_adjustment_ <= now && is_steady()) {
      const int64_t periods = (now - next_adjustment_) / setup_.adjust_every;
      next_adjustment_ = next_adjustment_ + setup_.adjust_every * periods;
      for (Level& level : levels_) {
        account(level, next_adjustment_ - setup_.adjust_every);
        level.demand = level.squares = 0;
      }
    }
  }
  share_seats(now);
}

}  // namespace orrery
