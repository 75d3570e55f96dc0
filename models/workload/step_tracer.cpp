#include "models/workload/step_tracer.hpp"

#include <algorithm>
#include <utility>

#include "sim/core/check.hpp"

namespace orrery {

void StepTracer::begin(JobId job, const StepPlan& plan, const StepActivity& activity) {
  if (job.index >= steps_.size()) steps_.resize(job.index + size_t{1});
  const Duration working = working_time(plan);
  const double worked = plan.compute.seconds() / working.seconds();  // a nanosecond of working
  steps_[job.index] = {.compute = plan.compute,
                       .working = working,
                       .update = plan.fixed,
                       .overlap = nearest_ns(hidden_time(plan).seconds() * worked),
                       .activity = activity,
                       .begun = {},
                       .event = {},
                       .updated = {},
                       .flow = {},
                       .sending = {},
                       .sent = sent(job)};
  next_step(job);
}

void StepTracer::end(JobId job) {
  if (job.index >= steps_.size()) return;
  Steps& steps = steps_[job.index];
  sim_.engine.cancel(steps.event);
  sim_.engine.cancel(steps.updated);
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

void StepTracer::reroute(JobId job, const StepActivity& activity) {
  Steps& steps = steps_[job.index];
  steps.activity = activity;
  if (!steps.exchanges || activity.bytes == Bytes{} || !activity.fabric.is_connected) return;
  if (steps.flow != FlowId{}) {
    const auto rate_max = static_cast<double>(activity.rate_max.bits_per_s);
    return network_->set_uses(steps.flow, activity.fabric.uses, rate_max);
  }
  start_transfer(job);
}

void StepTracer::go(JobId job, Phase phase, Duration goal) {
  Steps& steps = steps_[job.index];
  steps.phase = phase;
  controller_.set_pace(job, Pace::of_step(steps.compute, steps.working), goal);
}

void StepTracer::wait(JobId job, Phase phase) {
  Steps& steps = steps_[job.index];
  steps.phase = phase;
  controller_.set_pace(job, Pace::of_step(steps.compute, Duration::max()));
}

void StepTracer::next_step(JobId job) {
  Steps& steps = steps_[job.index];
  steps.begun = controller_.done(job);
  go(job, Phase::Compute, steps.begun + (steps.compute - steps.overlap));
}

void StepTracer::goal_reached(JobId job) {
  Steps& steps = steps_[job.index];
  switch (steps.phase) {
    case Phase::Compute:
      start_exchange(job);
      if (steps.overlap > Duration{}) return go(job, Phase::Overlap, steps.begun + steps.compute);
      [[fallthrough]];
    case Phase::Overlap:
      if (steps.exchanges) return wait(job, Phase::Exchange);
      [[fallthrough]];
    case Phase::Exchange:
      if (steps.update > Duration{}) {
        steps.updated = sim_.engine.after(steps.update, Label{"steps.updated"},
                                          [this, job] { next_step(job); });
        return wait(job, Phase::Update);
      }
      [[fallthrough]];
    case Phase::Update:
      next_step(job);
  }
}

void StepTracer::start_exchange(JobId job) {
  Steps& steps = steps_[job.index];
  const StepActivity& activity = steps.activity;
  if (activity.bytes == Bytes{}) {
    if (activity.inside == Duration{}) return;
    steps.exchanges = true;
    steps.event = sim_.engine.after(activity.inside, Label{"steps.exchanged"},
                                    [this, job] { exchanged(job); });
    return;
  }
  steps.exchanges = true;
  if (activity.fabric.is_connected) return start_transfer(job);
  ORRERY_MARK("steps.exchange_waits_for_a_way");
}

void StepTracer::start_transfer(JobId job) {
  Steps& steps = steps_[job.index];
  const StepActivity& activity = steps.activity;
  ORRERY_CHECK(network_ != nullptr, "only a fabric carries bytes");
  steps.sending = activity.bytes;
  steps.flow = network_->start({.size = activity.bytes,
                                .uses = activity.fabric.uses,
                                .latency = activity.inside,
                                .rate_max = static_cast<double>(activity.rate_max.bits_per_s)},
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
