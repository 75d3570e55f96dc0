// models/control_plane/flow_control/priority_and_fairness_seats.cpp -- priority levels lend and
// borrow seats.
#include <algorithm>
#include <cmath>
#include <utility>

#include "models/control_plane/flow_control/priority_and_fairness.hpp"
#include "sim/core/check.hpp"

namespace orrery {
namespace {

// The least target of a level, so that a level without requests still gets a share of surplus
// seats.
constexpr double kTargetMin = 1e-3;

}  // namespace

void PriorityAndFairness::close_period(Time end) {
  const double period = setup_.adjust_every.seconds();
  for (Level& level : levels_) {
    account(level, end);
    const double mean = level.demand / period;
    const double variance = std::max(level.squares / period - mean * mean, 0.0);
    const double envelope = mean + std::sqrt(variance);
    const double mixed = setup_.smoothing * level.smooth + (1 - setup_.smoothing) * envelope;
    level.smooth = std::max(envelope, mixed);
    level.demand = level.squares = 0;
    level.past_high = std::exchange(level.high, level.present_demand());
  }
}

bool PriorityAndFairness::is_steady() const {
  return std::ranges::all_of(
      levels_, [](const Level& level) { return level.smooth - level.present_demand() < 1e-6; });
}

void PriorityAndFairness::share_seats(Time now) {
  std::vector<SeatClaim> claims;
  std::vector<double> floors;
  double left = setup_.seats;
  for (Level& level : levels_) {
    const double high = level.past_high;
    const double floor = level.setup.seats_min;
    if (level.setup.kind == LevelKind::Exempt) {
      left -= std::max(floor, high);
      continue;
    }
    const double low = std::max(floor, std::min<double>(level.setup.seats, high));
    claims.push_back({.low = low,
                      .high = std::max<double>(level.setup.seats_max, low),
                      .target = std::max({low, level.smooth, kTargetMin})});
    floors.push_back(floor);
  }
  const std::vector<double> shares = fair_seats(claims, floors, std::max(left, 0.0));
  size_t next = 0;
  for (Level& level : levels_) {
    if (level.setup.kind == LevelKind::Exempt) continue;
    account(level, now);  // until now, the former limit applies
    level.limit = static_cast<int32_t>(std::lround(shares[next++]));
    dispatch(level, now);
  }
}

void PriorityAndFairness::audit() const {
  uint32_t waiting = 0, present = 0;
  for (const Entry& entry : entries_) {
    waiting += entry.state == State::Waiting ? 1 : 0;
    present += entry.state != State::Absent ? 1 : 0;
  }
  ORRERY_CHECK(waiting == waiting_ && present == present_, "every request is counted once");
  for (const Level& level : levels_) {
    int32_t in_queues = 0, busy = 0;
    for (const Queue& queue : level.queues) {
      in_queues += queue.waiting;
      busy += queue.waiting > 0 || queue.executing > 0 ? 1 : 0;
    }
    ORRERY_CHECK(in_queues == level.waiting && busy == level.busy_queues, "queues add up");
    ORRERY_CHECK(level.in_use >= 0, "no seat is given back twice");
    ORRERY_CHECK(level.waiting == 0 || level.in_use > 0,
                 "no request waits for seats that are free");
  }
}

}  // namespace orrery
