#include "models/workload/step_play.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "models/workload/step_activity.hpp"
#include "sim/core/check.hpp"

namespace orrery {
namespace {

constexpr int64_t kSameNs = 4;  // positions that differ by less are the same: times are rounded
constexpr Duration kShortestPeriod{1000 * kSameNs};  // of which that is a small part

bool is_same(Duration a, Duration b) { return std::abs(a.ns - b.ns) <= kSameNs; }

// Up to the nanosecond at which it is surely over, or kForEver.
Duration time_to_move(double bits, double rate) {
  if (rate <= 0 || bits / rate > kForEver.seconds()) return kForEver;
  return {static_cast<int64_t>(std::ceil(bits / rate * 1e9))};
}

}  // namespace

Duration StepParts::alone() const {
  const Duration exchange = inside + (bits > 0 ? time_to_move(bits, rate_max) : Duration{});
  return std::max(at_least, working + std::max(Duration{}, exchange - overlap) + update);
}

StepParts StepParts::scaled(double part) const {
  StepParts step = *this;
  step.uses.clear();
  for (Duration* span :
       {&step.compute, &step.working, &step.overlap, &step.inside, &step.update, &step.at_least}) {
    *span = nearest_ns(span->seconds() * part);
  }
  step.bits *= part;
  return step;
}

StepPosition StepPosition::begin(const StepParts& shape, double part) {
  if (part != 1) {
    StepPosition position = begin(shape.scaled(part));
    position.part = part;
    return position;
  }
  StepPosition position{.computing = shape.working,
                        .inside = shape.inside,
                        .update = shape.update,
                        .at_least = shape.at_least,
                        .bits = shape.bits};
  if (shape.save_every > 0) position.to_save = shape.save_every;
  return position;
}

StepPosition StepPosition::after(const StepParts& shape, double done, double part) {
  if (part != 1) {
    StepPosition position = after(shape.scaled(part), done);
    position.part = part;
    return position;
  }
  const Duration since = nearest_ns(shape.alone().seconds() * done);
  StepPosition position = begin(shape);
  position.computing = std::max(Duration{}, shape.working - since);
  position.at_least = std::max(Duration{}, shape.at_least - since);
  Duration left = since - (shape.working - shape.overlap);  // of what comes after
  if (left < Duration{}) return position;
  position.inside = std::max(Duration{}, shape.inside - left);
  position.exchange = Exchange::Inside;
  if (left < shape.inside) return position;
  left -= shape.inside;
  position.exchange = Exchange::Moves;
  position.bits = std::max(0.0, shape.bits - shape.rate_max * left.seconds());
  if (position.bits > 0) return position;
  position.exchange = Exchange::Over;
  const Duration moved = shape.bits > 0 ? time_to_move(shape.bits, shape.rate_max) : Duration{};
  left = since - std::max(shape.working, shape.working - shape.overlap + shape.inside + moved);
  position.update = std::max(Duration{}, shape.update - std::max(Duration{}, left));
  return position;
}

Duration StepPosition::left(const StepParts& shape) const {
  if (part != 1) return whole().left(shape.scaled(part));
  const Duration moves = bits > 0 ? time_to_move(bits, shape.rate_max) : Duration{};
  Duration worked = computing;  // and exchanged
  switch (exchange) {
    case Exchange::Waits:
      worked += std::max(Duration{}, inside + moves - shape.overlap);
      break;
    case Exchange::Inside:
      worked = std::max(computing, inside + moves);
      break;
    case Exchange::Moves:
      worked = std::max(computing, moves);
      break;
    case Exchange::Over:
      break;
  }
  return std::max(worked + update, at_least);
}

StepPosition StepPosition::whole() const {
  StepPosition position = *this;
  position.part = 1;
  return position;
}

double StepPosition::work(const StepParts& shape) const {
  if (part != 1) return whole().work(shape.scaled(part));
  const double to_do = left(shape).seconds() / shape.alone().seconds();
  return static_cast<double>(shape.compute.ns) * (1 - std::clamp(to_do, 0.0, 1.0));
}

int64_t StepPosition::go_on_cut_off(const StepParts& shape, Duration span) {
  StepParts still = shape;
  still.rate_max = 0;
  still.uses.clear();
  StepPlay alone{{std::move(still)}, {}};
  alone.start({*this});
  alone.run(span);
  *this = alone.positions().front();
  return std::exchange(steps, 0);
}

StepPlay::StepPlay(std::vector<StepParts> shapes, std::span<const double> capacities)
    : shapes_{std::move(shapes)},
      paused_(shapes_.size()),
      flows_(shapes_.size()),
      rates_(shapes_.size()),
      steps_of_period_(shapes_.size()) {
  for (const double capacity : capacities) sharing_.add_link(capacity);
}

void StepPlay::start(std::vector<StepPosition> positions) {
  ORRERY_CHECK(positions.size() == shapes_.size(), "each gang is somewhere");
  positions_ = std::move(positions);
  work_before_.clear();
  anchor_.clear();
  elapsed_ = period_ = {};
  leader_ = SIZE_MAX;
  for (size_t gang = 0; gang < shapes_.size(); ++gang) {
    positions_[gang].steps = 0;
    ORRERY_CHECK(positions_[gang].to_save == StepPosition::kNever || shapes_[gang].save_every > 0,
                 "only who makes checkpoints waits for the next");
    paused_[gang] = {};
    const bool is_away = positions_[gang].is_stopped || positions_[gang].pause == Duration::max();
    if (leader_ == SIZE_MAX && !is_away) leader_ = gang;
    work_before_.push_back(0);
    work_before_.back() = work(gang);
    set_flow(gang);
  }
  settle();
}

double StepPlay::work(size_t gang) const {
  const StepParts& shape = shapes_[gang];
  const StepPosition& position = positions_[gang];
  return static_cast<double>(shape.compute.ns * position.steps) + position.work(shape) -
         work_before_[gang];
}

bool StepPlay::has_ended(size_t gang) const {
  return positions_[gang].to_end == 1 && positions_[gang].pause == Duration::max();
}

Duration StepPlay::run(Duration span, int64_t events_max) {
  const Duration from = elapsed_;
  waits_ = false;
  for (int64_t events = 0; span > Duration{} && !waits_ && events < events_max; ++events) {
    Duration until = span;
    for (size_t gang = 0; gang < shapes_.size(); ++gang) until = std::min(until, next(gang));
    const int64_t steps = leader_ == SIZE_MAX ? 0 : positions_[leader_].steps;
    elapse(until);
    settle();
    span -= until;
    ++played_;
    if (leader_ != SIZE_MAX && positions_[leader_].steps != steps) look_for_period(span);
  }
  return elapsed_ - from;
}

// Until something becomes of the gang.
Duration StepPlay::next(size_t gang) const {
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
  if (at.exchange == Moves) return std::min(until, time_to_move(at.bits, rates_[gang]));
  return until;
}

void StepPlay::elapse(Duration span) {
  using enum StepPosition::Exchange;
  elapsed_ += span;
  for (size_t gang = 0; gang < shapes_.size(); ++gang) {
    StepPosition& at = positions_[gang];
    if (at.is_stopped) continue;
    if (at.pause > Duration{}) {
      if (at.pause < Duration::max()) at.pause -= span;
      paused_[gang] += span;
      continue;
    }
    at.at_least = std::max(Duration{}, at.at_least - span);
    if (at.exchange == Inside) at.inside -= span;
    if (at.exchange == Moves) at.bits -= rates_[gang] * span.seconds();
    if (at.computing > Duration{}) {
      at.computing -= span;
    } else if (at.exchange == Over) {
      at.update = std::max(Duration{}, at.update - span);
    }
  }
}

bool StepPlay::moves(size_t gang) const {
  const StepPosition& at = positions_[gang];
  return at.exchange == StepPosition::Exchange::Moves && !at.is_stopped && at.pause == Duration{};
}

Duration StepPlay::overlap(size_t gang) const {
  const double part = positions_[gang].part;
  const Duration whole = shapes_[gang].overlap;
  return part == 1 ? whole : nearest_ns(whole.seconds() * part);
}

void StepPlay::set_flow(size_t gang) {
  ActivityId& flow = flows_[gang];
  if (moves(gang) == flow.is_valid()) return;
  if (flow.is_valid()) {
    sharing_.remove(std::exchange(flow, {}));
  } else {
    flow = sharing_.add(shapes_[gang].uses, shapes_[gang].rate_max);
  }
}

void StepPlay::settle() {
  for (size_t gang = 0; gang < shapes_.size(); ++gang) {
    while (settle(gang)) {
    }
    set_flow(gang);
  }
  if (sharing_.is_solved()) return;
  sharing_.solve();
  for (size_t gang = 0; gang < shapes_.size(); ++gang) {
    rates_[gang] = flows_[gang].is_valid() ? sharing_.rate(flows_[gang]) : 0.0;
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
    at.exchange = at.bits > 0 ? Moves : Over;
    return true;
  }
  if (at.exchange == Moves && at.bits <= 1e-3) {  // as FlowNetwork has it
    at.exchange = Over;
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
  const auto all_is_different = [this] { anchor_.clear(); };  // from here on
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
}

void StepPlay::set_anchor() {
  anchor_ = positions_;
  anchored_at_ = elapsed_;
}

bool StepPlay::repeats() const {
  if (elapsed_ - anchored_at_ < kShortestPeriod) return false;
  for (size_t gang = 0; gang < shapes_.size(); ++gang) {
    const StepPosition &a = anchor_[gang], &b = positions_[gang];
    const double bits = shapes_[gang].rate_max * kSameNs * 1e-9;
    const bool is_alike = a.exchange == b.exchange && is_same(a.computing, b.computing) &&
                          is_same(a.inside, b.inside) && is_same(a.update, b.update) &&
                          is_same(a.at_least, b.at_least) && is_same(a.pause, b.pause) &&
                          std::abs(a.bits - b.bits) <= bits;
    if (!is_alike) return false;
  }
  return true;
}

// The leader begins a step.
void StepPlay::look_for_period(Duration& left) {
  if (anchor_.empty()) {
    anchor_steps_ = 1;
    period_ = {};
    return set_anchor();
  }
  if (!repeats()) {
    if (positions_[leader_].steps - anchor_[leader_].steps < anchor_steps_) return;
    anchor_steps_ *= 2;
    return set_anchor();
  }
  const Duration period = elapsed_ - anchored_at_;
  int64_t times = left / period;
  bool saves = false;
  for (size_t gang = 0; gang < shapes_.size(); ++gang) {
    const StepPosition &a = anchor_[gang], &b = positions_[gang];
    const int64_t used = b.steps - a.steps;
    if (b.to_end != StepPosition::kNever && used > 0) {
      times = std::clamp((b.to_end - 2) / used, int64_t{0}, times);
    }
    if (b.is_stopped || b.to_save == StepPosition::kNever) continue;
    saves = true;
    if (b.pause == Duration{} && used > 0) times = std::min(times, (b.to_save - 1) / used);
  }
  for (size_t gang = 0; gang < shapes_.size(); ++gang) {
    const StepPosition& a = anchor_[gang];
    StepPosition& b = positions_[gang];
    const int64_t steps = b.steps - a.steps;
    steps_of_period_[gang] = steps;
    b.steps += steps * times;
    if (b.to_save != StepPosition::kNever) b.to_save -= steps * times;
    if (b.to_end != StepPosition::kNever) b.to_end -= steps * times;
  }
  period_ = saves ? Duration{} : period;
  elapsed_ += period * times;
  left -= period * times;
  anchor_steps_ = 1;
  set_anchor();
}

}  // namespace orrery
