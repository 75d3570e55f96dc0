#include "models/workload/step_position.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "models/network/flow_units.hpp"
#include "models/workload/step_activity.hpp"
#include "models/workload/step_play.hpp"

namespace orrery {
namespace {

Duration time_to_move(double bits, double rate) {
  const auto time = FlowUnits::time_to_move(FlowUnits::of_bits(bits), FlowUnits::of_rate(rate));
  return std::min(time.value_or(kForEver), kForEver);
}

}  // namespace

Duration StepParts::alone() const {
  const Duration exchange = inside + time_to_move(bits, rate_max);
  return std::max(at_least, working + std::max(Duration{}, exchange - overlap) + update);
}

// As StepTracer rounds them: the exchange begins so far in the step, and moves whole bytes.
StepParts StepParts::scaled(double part) const {
  StepParts step = *this;
  step.uses.clear();
  const auto scale = [&](Duration span) { return nearest_ns(span.seconds() * part); };
  step.compute = scale(compute);
  step.working = scale(working);
  step.overlap = std::max(Duration{}, step.working - scale(working - overlap));
  step.inside = scale(inside);
  step.update = scale(update);
  step.at_least = scale(at_least);
  if (bits > 0) step.bits = 8.0 * static_cast<double>(std::max(std::llround(bits * part / 8), 1LL));
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

StepPosition StepPosition::after(const StepParts& shape, Duration since, double part) {
  if (part != 1) {
    StepPosition position = after(shape.scaled(part), since);
    position.part = part;
    return position;
  }
  StepPosition position = begin(shape);
  position.computing = std::max(Duration{}, shape.working - since);
  position.at_least = std::max(Duration{}, shape.at_least - since);
  Duration left = since - (shape.working - shape.overlap);  // of what comes after
  if (left < Duration{}) return position;
  position.inside = std::max(Duration{}, shape.inside - left);
  position.exchange = Exchange::Inside;
  if (left < shape.inside) return position;
  left -= shape.inside;
  const Duration moving = time_to_move(shape.bits, shape.rate_max);
  if (left < moving) {
    position.exchange = Exchange::Moves;
    position.bits = std::max(0.0, shape.bits - shape.rate_max * left.seconds());
    return position;
  }
  position.exchange = Exchange::Over;
  position.bits = 0;
  left = since - std::max(shape.working, shape.working - shape.overlap + shape.inside + moving);
  position.update = std::max(Duration{}, shape.update - std::max(Duration{}, left));
  return position;
}

Duration StepPosition::left(const StepParts& shape) const {
  if (part != 1) return whole().left(shape.scaled(part));
  const Duration moves = time_to_move(bits, shape.rate_max);
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

}  // namespace orrery
