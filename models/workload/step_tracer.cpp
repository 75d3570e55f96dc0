#include "models/workload/step_tracer.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/core/check.hpp"

namespace orrery {
namespace {

constexpr Label kInside{"steps.exchanged_inside"}, kUpdated{"steps.updated"};

}  // namespace

void StepTracer::begin(JobId job, const StepPlan& plan, const StepActivity& activity,
                       Duration work) {
  if (job.index >= steps_.size()) steps_.resize(job.index + size_t{1});
  const Duration working = working_time(plan);
  const double worked = plan.compute.seconds() / working.seconds();  // a nanosecond of working
  const Bytes sent_before = sent(job);
  Steps& steps = steps_[job.index];
  steps = {};
  steps.all = work;
  steps.compute = plan.compute;
  steps.working = working;
  steps.update_time = plan.fixed;
  steps.overlap = nearest_ns(hidden_time(plan).seconds() * worked);
  steps.activity = activity;
  steps.sent = sent_before;
  controller_.play_steps(job);
  next_step(job);
}

void StepTracer::end(JobId job) {
  if (job.index >= steps_.size()) return;
  Steps& steps = steps_[job.index];
  sim_.engine.cancel(steps.inside.event);
  sim_.engine.cancel(steps.update.event);
  const Bytes sent_by_now = sent(job);
  if (network_ != nullptr) network_->close(steps.flow);
  steps = {};
  steps.sent = sent_by_now;
}

Bytes StepTracer::sent(JobId job) const {
  if (job.index >= steps_.size()) return {};
  const Steps& steps = steps_[job.index];
  if (network_ == nullptr || !network_->flows().is_active(steps.flow)) return steps.sent;
  return steps.sent + network_->flows().moved(steps.flow);
}

Duration StepTracer::part_of(const Steps& steps, Duration whole) {
  return steps.part == 1 ? whole : nearest_ns(whole.seconds() * steps.part);
}

double StepTracer::rate_max(const Steps& steps) const {
  return steps.is_paused ? 0 : static_cast<double>(steps.activity.rate_max.bits_per_s);
}

void StepTracer::reroute(JobId job, const StepActivity& activity) {
  Steps& steps = steps_[job.index];
  steps.activity = activity;
  if (!steps.exchanges || activity.bytes == Bytes{} || !activity.fabric.is_connected) return;
  if (steps.flow != FlowId{}) {
    if (activity.bytes == steps.whole) {
      return network_->set_uses(steps.flow, activity.fabric.uses, rate_max(steps));
    }
    const Bytes moved = network_->flows().moved(steps.flow);
    network_->close(steps.flow);
    steps.sent = steps.sent + moved;
    const double left = static_cast<double>(steps.sending.count - moved.count);
    const double scale =
        static_cast<double>(activity.bytes.count) / static_cast<double>(steps.whole.count);
    return send(job, left * scale);  // on what is its heaviest link now
  }
  const bool is_inside =
      sim_.engine.is_pending(steps.inside.event) || steps.inside.left != Duration::max();
  if (!is_inside) start_transfer(job);
}

void StepTracer::start(Wait& wait, Duration span, Label label, JobId job,
                       void (StepTracer::*then)(JobId)) {
  wait.due = sim_.engine.now() + span;
  wait.left = Duration::max();
  wait.event = sim_.engine.after(span, label, [this, job, then] { (this->*then)(job); });
}

void StepTracer::pause(Wait& wait) {
  if (sim_.engine.cancel(wait.event)) wait.left = wait.due - sim_.engine.now();
}

void StepTracer::set_paused(JobId job, bool is_paused) {
  if (job.index >= steps_.size() || steps_[job.index].all == Duration{}) return;
  Steps& steps = steps_[job.index];
  if (std::exchange(steps.is_paused, is_paused) == is_paused) return;
  if (network_ != nullptr && network_->flows().is_active(steps.flow)) {
    network_->set_rate_max(steps.flow, rate_max(steps));
  }
  if (is_paused) {
    pause(steps.inside);
    pause(steps.update);
    return;
  }
  if (steps.inside.left != Duration::max()) {
    start(steps.inside, steps.inside.left, kInside, job, &StepTracer::leave_nodes);
  }
  if (steps.update.left != Duration::max()) {
    start(steps.update, steps.update.left, kUpdated, job, &StepTracer::end_step);
  }
}

void StepTracer::go(JobId job, Phase phase, Duration goal) {
  Steps& steps = steps_[job.index];
  steps.phase = phase;
  controller_.set_pace(job, Pace::of_step(steps.compute, steps.working), std::min(goal, steps.all));
}

void StepTracer::wait(JobId job, Phase phase) {
  Steps& steps = steps_[job.index];
  steps.phase = phase;
  controller_.set_pace(job, Pace::of_step(steps.compute, Duration::max()));
}

void StepTracer::next_step(JobId job) {
  Steps& steps = steps_[job.index];
  steps.begun = controller_.done(job);
  const Duration left = steps.all - steps.begun;
  steps.part = left < steps.compute ? left.seconds() / steps.compute.seconds() : 1;
  go(job, Phase::Compute, steps.begun + part_of(steps, steps.compute - steps.overlap));
}

void StepTracer::goal_reached(JobId job) {
  Steps& steps = steps_[job.index];
  switch (steps.phase) {
    case Phase::Compute:
      start_exchange(job);
      if (steps.overlap > Duration{} && controller_.done(job) < steps.all) {
        return go(job, Phase::Overlap, steps.begun + steps.compute);
      }
      [[fallthrough]];
    case Phase::Overlap:
      if (steps.exchanges) return wait(job, Phase::Exchange);
      [[fallthrough]];
    case Phase::Exchange:
      if (steps.update_time > Duration{}) {
        start(steps.update, part_of(steps, steps.update_time), kUpdated, job,
              &StepTracer::end_step);
        return wait(job, Phase::Update);
      }
      [[fallthrough]];
    case Phase::Update:
      end_step(job);
  }
}

void StepTracer::end_step(JobId job) {
  if (controller_.done(job) >= steps_[job.index].all) return controller_.complete(job);
  next_step(job);
}

void StepTracer::start_exchange(JobId job) {
  Steps& steps = steps_[job.index];
  const StepActivity& activity = steps.activity;
  if (activity.bytes == Bytes{} && activity.inside == Duration{}) return;
  steps.exchanges = true;
  if (activity.inside == Duration{}) return leave_nodes(job);
  start(steps.inside, part_of(steps, activity.inside), kInside, job, &StepTracer::leave_nodes);
}

void StepTracer::leave_nodes(JobId job) {
  const StepActivity& activity = steps_[job.index].activity;
  if (activity.bytes == Bytes{}) return exchanged(job);
  if (activity.fabric.is_connected) {
    start_transfer(job);
  } else {
    ORRERY_MARK("steps.exchange_waits_for_a_way");
  }
  transfer_due.emit(job);
}

bool StepTracer::is_transferring(JobId job) const {
  if (job.index >= steps_.size()) return false;
  const Steps& steps = steps_[job.index];
  return steps.exchanges && !sim_.engine.is_pending(steps.inside.event) &&
         steps.inside.left == Duration::max();
}

void StepTracer::start_transfer(JobId job) {
  const Steps& steps = steps_[job.index];
  ORRERY_CHECK(network_ != nullptr, "only a fabric carries bytes");
  send(job, static_cast<double>(steps.activity.bytes.count) * steps.part);
}

void StepTracer::send(JobId job, double bytes) {
  Steps& steps = steps_[job.index];
  steps.whole = steps.activity.bytes;
  steps.sending = {std::max(std::llround(bytes), 1LL)};
  steps.flow = network_->start(
      {.size = steps.sending, .uses = steps.activity.fabric.uses, .rate_max = rate_max(steps)},
      [this, job] { exchanged(job); });
}

void StepTracer::exchanged(JobId job) {
  Steps& steps = steps_[job.index];
  steps.exchanges = false;
  steps.flow = {};
  steps.sent = steps.sent + std::exchange(steps.sending, {});
  if (steps.phase == Phase::Exchange) goal_reached(job);
}

}  // namespace orrery
