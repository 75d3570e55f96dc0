#include "models/workload/step_play.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "models/network/flow_units.hpp"
#include "sim/core/check.hpp"

namespace orrery {
namespace {

// Positions that differ by no more are the same, once so many events showed no other period.
constexpr Duration kSame{4};
constexpr int64_t kExactEvents = 20'000;
constexpr Duration kShortestPeriod = kSame * 1000;  // of which that is a small part
constexpr int64_t kPeriodsMax = 1_us / kSame;       // left out then: so much may they drift

}  // namespace

StepPlay::StepPlay(std::vector<StepParts> shapes, std::span<const double> capacities)
    : shapes_{std::move(shapes)},
      states_(shapes_.size()),
      next_(shapes_.size()),
      steps_of_period_(shapes_.size()) {
  for (const double capacity : capacities) sharing_.add_link(capacity);
}

void StepPlay::start(std::vector<StepPosition> positions, int64_t played) {
  ORRERY_CHECK(positions.size() == shapes_.size(), "each gang is somewhere");
  positions_ = std::move(positions);
  anchor_.clear();
  elapsed_ = period_ = {};
  played_ = played;
  for (size_t gang = 0; gang < shapes_.size(); ++gang) {
    StepPosition& position = positions_[gang];
    State& state = states_[gang];
    position.steps = 0;
    ORRERY_CHECK(position.to_save == StepPosition::kNever || shapes_[gang].save_every > 0,
                 "only who makes checkpoints waits for the next");
    state.at = state.paused = {};
    state.left = FlowUnits::of_bits(position.bits);
    state.work_before = position.work(shapes_[gang]);
    go_on(gang);
  }
  find_leader();
  share();
  tell_positions();
}

void StepPlay::find_leader() {
  leader_ = SIZE_MAX;
  for (size_t gang = shapes_.size(); gang-- > 0;) {
    const StepPosition& position = positions_[gang];
    if (!position.is_stopped && position.pause < Duration::max()) leader_ = gang;
  }
}

void StepPlay::start_again() {
  for (size_t gang = 0; gang < shapes_.size(); ++gang) {
    StepPosition& position = positions_[gang];
    State& state = states_[gang];
    if (!anchor_.empty()) anchor_[gang].position.steps -= position.steps;
    position.steps = 0;
    state.at = state.paused = {};
    state.work_before = position.work(shapes_[gang]);
    if (next_[gang] != Duration::max()) next_[gang] -= elapsed_;
  }
  anchored_at_ -= elapsed_;
  elapsed_ = {};
  const size_t leader = leader_;
  find_leader();
  if (leader_ != leader) anchor_.clear();
}

double StepPlay::work(size_t gang) const {
  const StepParts& shape = shapes_[gang];
  const StepPosition& position = positions_[gang];
  return static_cast<double>(shape.compute.ns * position.steps) + position.work(shape) -
         states_[gang].work_before;
}

bool StepPlay::has_ended(size_t gang) const {
  const StepPosition& at = positions_[gang];
  return at.to_end == 1 && at.pause == Duration::max() &&
         at.exchange == StepPosition::Exchange::Over;
}

Duration StepPlay::run(Duration span, int64_t events_max) {
  const Duration from = elapsed_, until = elapsed_ + span;
  waits_ = false;
  for (int64_t events = 0; elapsed_ < until && !waits_ && events < events_max; ++events) {
    elapsed_ = until;
    for (const Duration next : next_) elapsed_ = std::min(elapsed_, next);
    const int64_t steps = leader_ == SIZE_MAX ? 0 : positions_[leader_].steps;
    for (size_t gang = 0; gang < shapes_.size(); ++gang) {
      if (next_[gang] == elapsed_) go_on(gang);
    }
    share();
    ++played_;
    if (leader_ != SIZE_MAX && positions_[leader_].steps != steps) look_for_period(until);
  }
  tell_positions();
  return elapsed_ - from;
}

void StepPlay::tell_positions() {
  for (size_t gang = 0; gang < shapes_.size(); ++gang) {
    bring_to_now(gang);
    positions_[gang].bits = std::max(0.0, FlowUnits::bits(states_[gang].left));
  }
}

// ---- a gang

// From when it was brought up to date.
Duration StepPlay::until_next(size_t gang) const {
  const StepPosition& at = positions_[gang];
  if (at.is_stopped) return Duration::max();
  if (at.pause > Duration{}) return at.pause;
  using enum StepPosition::Exchange;
  Duration until = Duration::max();
  if (at.computing > Duration{}) {
    until = at.computing;
    if (at.exchange == Waits) until = std::min(until, at.computing - overlap(gang));
  } else if (at.exchange == Over) {
    until = std::max(at.update, at.at_least);
  }
  if (at.exchange == Inside) return std::min(until, at.inside);
  if (at.exchange != Moves) return until;
  const State& state = states_[gang];
  return std::min(until, FlowUnits::time_to_move(state.left, state.rate).value_or(Duration::max()));
}

void StepPlay::find_next(size_t gang) {
  const Duration until = until_next(gang);
  next_[gang] = until == Duration::max() ? until : elapsed_ + until;
}

void StepPlay::bring_to_now(size_t gang) {
  using enum StepPosition::Exchange;
  StepPosition& at = positions_[gang];
  State& state = states_[gang];
  const Duration span = elapsed_ - std::exchange(state.at, elapsed_);
  if (at.is_stopped || span == Duration{}) return;
  if (at.pause > Duration{}) {
    if (at.pause < Duration::max()) at.pause -= span;
    state.paused += span;
    return;
  }
  at.at_least = std::max(Duration{}, at.at_least - span);
  if (at.exchange == Inside) at.inside -= span;
  if (at.exchange == Moves) state.left -= state.rate * span.ns;
  if (at.computing > Duration{}) {
    at.computing -= span;
  } else if (at.exchange == Over) {
    at.update = std::max(Duration{}, at.update - span);
  }
}

// An event of its own.
void StepPlay::go_on(size_t gang) {
  bring_to_now(gang);
  while (settle(gang)) {
  }
  set_flow(gang);
  find_next(gang);
}

bool StepPlay::moves(size_t gang) const {
  const StepPosition& at = positions_[gang];
  return at.exchange == StepPosition::Exchange::Moves && !at.is_stopped && at.pause == Duration{};
}

Duration StepPlay::overlap(size_t gang) const {
  const double part = positions_[gang].part;
  return part == 1 ? shapes_[gang].overlap : shapes_[gang].scaled(part).overlap;
}

void StepPlay::set_flow(size_t gang) {
  State& state = states_[gang];
  if (moves(gang) == state.flow.is_valid()) return;
  if (state.flow.is_valid()) {
    sharing_.remove(std::exchange(state.flow, {}));
    state.rate = 0;
    return;
  }
  state.flow = sharing_.add(shapes_[gang].uses, shapes_[gang].rate_max);
  if (state.flow.index >= gang_of_flow_.size()) gang_of_flow_.resize(state.flow.index + size_t{1});
  gang_of_flow_[state.flow.index] = gang;
}

void StepPlay::share() {
  if (sharing_.is_solved()) return;
  for (const ActivityId flow : sharing_.solve()) {
    const size_t gang = gang_of_flow_[flow.index];
    bring_to_now(gang);
    states_[gang].rate = FlowUnits::of_rate(sharing_.rate(flow));
    find_next(gang);
  }
}

// What the gang does next, if it does it now.
bool StepPlay::settle(size_t gang) {
  using enum StepPosition::Exchange;
  StepPosition& at = positions_[gang];
  if (at.is_stopped || at.pause > Duration{}) return false;
  if (at.exchange == Waits && at.computing <= overlap(gang)) {
    at.exchange = Inside;
    return true;
  }
  if (at.exchange == Inside && at.inside <= Duration{}) {
    at.exchange = states_[gang].left > 0 ? Moves : Over;
    return true;
  }
  const bool has_moved =
      states_[gang].left <= FlowUnits::kLeftOver || states_[gang].rate >= FlowUnits::kInstant;
  if (at.exchange == Moves && has_moved) {
    at.exchange = Over;
    states_[gang].left = 0;
    return true;
  }
  const bool is_over = at.computing == Duration{} && at.exchange == Over &&
                       at.update == Duration{} && at.at_least == Duration{};
  if (!is_over) return false;
  next_step(gang);
  return true;
}

void StepPlay::next_step(size_t gang) {
  StepPosition& at = positions_[gang];
  const StepParts& shape = shapes_[gang];
  const auto all_is_different = [this] {  // from here on
    anchor_.clear();
    period_ = {};
  };
  if (at.to_end == 1) {
    at.pause = Duration::max();
    waits_ = true;
    return all_is_different();
  }
  const bool is_last = at.to_end == 2;
  StepPosition next = StepPosition::begin(shape, is_last ? shape.last_part : 1);
  if (is_last) all_is_different();
  if (at.to_end != StepPosition::kNever) next.to_end = at.to_end - 1;
  next.to_save = at.to_save;
  next.steps = at.steps + 1;
  if (at.to_save != StepPosition::kNever && --next.to_save <= 0) {
    next.to_save = shape.save_every;
    next.pause = shape.save;
    waits_ = waits_ || next.pause == Duration::max();
    all_is_different();
  }
  at = next;
  states_[gang].left = FlowUnits::of_bits(at.bits);
}

// ---- periods

void StepPlay::set_anchor() {
  anchor_.clear();
  for (size_t gang = 0; gang < shapes_.size(); ++gang) {
    anchor_.push_back({positions_[gang], states_[gang].left});
  }
  anchored_at_ = elapsed_;
}

// Only what repeats itself to the nanosecond is a period.
bool StepPlay::is_exact() const { return played_ < kExactEvents; }

bool StepPlay::repeats() const {
  if (!is_exact() && elapsed_ - anchored_at_ < kShortestPeriod) return false;
  const Duration most = is_exact() ? Duration{} : kSame;
  const auto is_same = [most](Duration a, Duration b) { return std::abs(a.ns - b.ns) <= most.ns; };
  for (size_t gang = 0; gang < shapes_.size(); ++gang) {
    const StepPosition &a = anchor_[gang].position, &b = positions_[gang];
    const int128_t moved = anchor_[gang].left - states_[gang].left;
    const int128_t least = FlowUnits::of_rate(shapes_[gang].rate_max) * most.ns;
    const bool is_alike = a.exchange == b.exchange && is_same(a.computing, b.computing) &&
                          is_same(a.inside, b.inside) && is_same(a.update, b.update) &&
                          is_same(a.at_least, b.at_least) && is_same(a.pause, b.pause) &&
                          moved <= least && -moved <= least;
    if (!is_alike) return false;
  }
  return true;
}

// The leader begins a step.
void StepPlay::look_for_period(Duration until) {
  for (size_t gang = 0; gang < shapes_.size(); ++gang) bring_to_now(gang);
  if (anchor_.empty()) {
    anchor_steps_ = 1;
    period_ = {};
    return set_anchor();
  }
  if (!repeats()) {
    if (positions_[leader_].steps - anchor_[leader_].position.steps < anchor_steps_) return;
    anchor_steps_ *= 2;
    return set_anchor();
  }
  const Duration period = elapsed_ - anchored_at_;
  int64_t times = (until - elapsed_) / period;
  if (!is_exact()) times = std::min(times, kPeriodsMax);
  bool saves = false;
  for (size_t gang = 0; gang < shapes_.size(); ++gang) {
    const StepPosition& at = positions_[gang];
    const int64_t used = at.steps - anchor_[gang].position.steps;
    steps_of_period_[gang] = used;
    if (at.to_end != StepPosition::kNever && used > 0) {
      times = std::clamp((at.to_end - 2) / used, int64_t{0}, times);
    }
    if (at.is_stopped || at.to_save == StepPosition::kNever) continue;
    saves = true;
    if (at.pause == Duration{} && used > 0) times = std::min(times, (at.to_save - 1) / used);
  }
  period_ = saves || !is_exact() ? Duration{} : period;
  leave_out(times, period);
  anchor_steps_ = 1;
  set_anchor();
}

void StepPlay::leave_out(int64_t periods, Duration period) {
  const Duration span = period * periods;
  elapsed_ += span;
  for (size_t gang = 0; gang < shapes_.size(); ++gang) {
    StepPosition& at = positions_[gang];
    const int64_t steps = steps_of_period_[gang] * periods;
    at.steps += steps;
    if (at.to_save != StepPosition::kNever) at.to_save -= steps;
    if (at.to_end != StepPosition::kNever) at.to_end -= steps;
    states_[gang].at = elapsed_;
    if (at.pause > Duration{} && !at.is_stopped) states_[gang].paused += span;
    if (next_[gang] != Duration::max()) next_[gang] += span;
  }
}

}  // namespace orrery
