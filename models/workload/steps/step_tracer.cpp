#include "models/workload/steps/step_tracer.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/core/check.hpp"
#include "sim/core/int128.hpp"

namespace orrery {

void StepTracer::begin(JobId job, const StepCycle& cycle, const StepActivity& activity,
                       Duration work, Duration delay) {
  if (job.index >= steps_.size()) steps_.resize(job.index + size_t{1});
  Steps& steps = steps_[job.index];
  steps = {
      .is_active = true, .cycle = cycle, .activity = activity, .left = work, .sent = sent(job)};
  start(job, steps.main, delay, Label{"steps.begun"}, &StepTracer::next_step);
}

void StepTracer::end(JobId job) {
  if (job.index >= steps_.size()) return;
  Steps& steps = steps_[job.index];
  engine_.cancel(steps.main.event);
  engine_.cancel(steps.inside.event);
  const Bytes sent_by_now = sent(job);
  if (flows_ != nullptr) flows_->end(steps.flow);
  steps = {.sent = sent_by_now};
}

Bytes StepTracer::sent(JobId job) const {
  if (job.index >= steps_.size()) return {};
  const Steps& steps = steps_[job.index];
  if (flows_ == nullptr || !flows_->is_active(steps.flow)) return steps.sent;
  return steps.sent + flows_->moved(steps.flow);
}

void StepTracer::next_step(JobId job) {
  Steps& steps = steps_[job.index];
  const StepCycle& cycle = steps.cycle;
  steps.work = std::min(steps.left, cycle.compute);
  steps.part = steps.work < cycle.compute ? steps.work.seconds() / cycle.compute.seconds() : 1;
  steps.begun = engine_.now();
  const Duration lead = cycle.working - cycle.overlap;  // time before the exchange in a whole step
  steps.lead = steps.part_of(lead);
  steps.lead_work = {
      static_cast<int64_t>(static_cast<int128_t>(steps.work.ns) * lead.ns / cycle.working.ns)};
  compute(job, Phase::Compute, steps.lead_work, steps.lead);
}

// The gang does `work` in exactly `span`, so its progress is exact at the end of the phase.
void StepTracer::compute(JobId job, Phase phase, Duration work, Duration span) {
  Steps& steps = steps_[job.index];
  steps.phase = phase;
  if (work > Duration{}) span = std::max(span, 1_ns);
  if (work == Duration{} && span == Duration{}) return computed(job);
  const int128_t computing = static_cast<int128_t>(work.ns) * Pace::kWhole / span.ns;
  start(job, steps.main, span, Label{"steps.computed"}, &StepTracer::computed);
  pace_changed.emit(
      job, {.work = work.ns,
            .span = span.ns,
            .computing = static_cast<int64_t>(std::min<int128_t>(computing, Pace::kWhole))});
}

void StepTracer::computed(JobId job) {
  Steps& steps = steps_[job.index];
  if (steps.phase == Phase::Compute) {
    start_exchange(job);
    const Duration hidden = steps.part_of(steps.cycle.working) - steps.lead;
    return compute(job, Phase::Overlap, steps.work - steps.lead_work, hidden);
  }
  if (steps.exchanges) return stand_still(job, Phase::Exchange);
  update(job);
}

void StepTracer::stand_still(JobId job, Phase phase) {
  steps_[job.index].phase = phase;
  pace_changed.emit(job, Pace::of_step(1_ns, Duration::max()));
}

void StepTracer::update(JobId job) {
  Steps& steps = steps_[job.index];
  if (steps.cycle.update == Duration{} && steps.cycle.reading == Duration{}) return end_step(job);
  steps.updated_at = engine_.now() + steps.part_of(steps.cycle.update);
  stand_still(job, Phase::Update);
  updated(job);
}

// Ends the step once the optimizer has run and the next step's data have been read. If no data
// arrive, the step waits until set_reading() schedules this check again.
void StepTracer::updated(JobId job) {
  Steps& steps = steps_[job.index];
  if (steps.cycle.reading == Duration::max()) return;
  const Time read = steps.begun + steps.part_of(steps.cycle.reading);
  const Time over = std::max(steps.updated_at, read);
  if (over <= engine_.now()) return end_step(job);
  start(job, steps.main, over - engine_.now(), Label{"steps.updated"}, &StepTracer::updated);
}

void StepTracer::set_reading(JobId job, Duration reading) {
  if (job.index >= steps_.size() || !steps_[job.index].is_active) return;
  Steps& steps = steps_[job.index];
  if (std::exchange(steps.cycle.reading, reading) == reading) return;
  if (steps.phase != Phase::Update) return;
  engine_.cancel(steps.main.event);
  start(job, steps.main, {}, Label{"steps.data_looked_at"}, &StepTracer::updated);
}

void StepTracer::end_step(JobId job) {
  steps_[job.index].left -= steps_[job.index].work;
  step_done.emit(job);
  const Steps& steps = steps_[job.index];  // the id may belong to another job now
  if (steps.is_active && steps.left > Duration{}) next_step(job);
}

void StepTracer::start_exchange(JobId job) {
  Steps& steps = steps_[job.index];
  const Duration inside = steps.cycle.inside;
  if (steps.activity.bytes == Bytes{} && inside == Duration{}) return;
  steps.exchanges = true;
  if (inside == Duration{}) return leave_nodes(job);
  start(job, steps.inside, steps.part_of(inside), Label{"steps.exchanged_inside"},
        &StepTracer::leave_nodes);
}

void StepTracer::leave_nodes(JobId job) {
  const Steps& steps = steps_[job.index];
  if (steps.activity.bytes == Bytes{}) return exchanged(job);
  if (steps.activity.fabric.is_connected) {
    send(job, static_cast<double>(steps.activity.bytes.count) * steps.part);
  } else {
    ORRERY_MARK("steps.exchange_waits_for_a_way");
  }
  transfer_due.emit(job);
}

void StepTracer::send(JobId job, double bytes) {
  ORRERY_CHECK(flows_ != nullptr, "only a fabric carries bytes");
  Steps& steps = steps_[job.index];
  steps.whole = steps.activity.bytes;
  steps.sending = {std::max(std::llround(bytes), 1LL)};
  steps.flow = flows_->start(
      {.size = steps.sending, .uses = steps.activity.fabric.uses, .rate_max = steps.rate_max()},
      [this, job] { exchanged(job); });
}

void StepTracer::exchanged(JobId job) {
  Steps& steps = steps_[job.index];
  steps.exchanges = false;
  steps.flow = {};
  steps.sent = steps.sent + std::exchange(steps.sending, {});
  if (steps.phase == Phase::Exchange) update(job);
}

bool StepTracer::is_transferring(JobId job) const {
  if (job.index >= steps_.size()) return false;
  const Steps& steps = steps_[job.index];
  return steps.exchanges && !engine_.is_pending(steps.inside.event) &&
         steps.inside.left == Duration::max();
}

// A transfer keeps its progress: if the bytes on the heaviest link change, the bytes left change in
// proportion. Example: 1 GB of 4 GB is sent. Then the bytes change to 8 GB, and 6 GB are left.
void StepTracer::reroute(JobId job, const StepActivity& activity) {
  Steps& steps = steps_[job.index];
  steps.activity = activity;
  if (!is_transferring(job) || activity.bytes == Bytes{} || !activity.fabric.is_connected) return;
  if (!flows_->is_active(steps.flow)) {
    return send(job, static_cast<double>(activity.bytes.count) * steps.part);
  }
  if (activity.bytes == steps.whole) {
    flows_->set_uses(steps.flow, activity.fabric.uses);
    flows_->set_rate_max(steps.flow, steps.rate_max());
    return;
  }
  const Bytes moved = flows_->moved(steps.flow);
  flows_->end(steps.flow);
  steps.sent = steps.sent + moved;
  const double left = static_cast<double>(steps.sending.count - moved.count);
  send(job,
       left * static_cast<double>(activity.bytes.count) / static_cast<double>(steps.whole.count));
}

void StepTracer::set_paused(JobId job, bool is_paused) {
  if (job.index >= steps_.size() || !steps_[job.index].is_active) return;
  Steps& steps = steps_[job.index];
  if (steps.is_paused() == is_paused) return;
  if (is_paused) {
    steps.paused_at = engine_.now();
    for (Wait* const wait : {&steps.main, &steps.inside}) {
      if (engine_.cancel(wait->event)) wait->left = wait->due - engine_.now();
    }
  } else {
    const Duration paused = engine_.now() - std::exchange(steps.paused_at, Time::max());
    steps.begun = steps.begun + paused;
    steps.updated_at = steps.updated_at + paused;
    resume(job, steps.main);
    resume(job, steps.inside);
  }
  if (flows_ != nullptr && flows_->is_active(steps.flow)) {
    flows_->set_rate_max(steps.flow, steps.rate_max());
  }
}

void StepTracer::start(JobId job, Wait& wait, Duration span, Label label,
                       void (StepTracer::*then)(JobId)) {
  wait.then = then;
  if (steps_[job.index].is_paused()) {
    wait.left = span;
    return;
  }
  ORRERY_CHECK(!engine_.is_pending(wait.event), "a gang does one step at a time");
  wait.due = engine_.now() + span;
  wait.left = Duration::max();
  wait.event = engine_.after(span, label, [this, job, then] { (this->*then)(job); });
}

void StepTracer::resume(JobId job, Wait& wait) {
  if (wait.left == Duration::max()) return;
  start(job, wait, wait.left, Label{"steps.went_on"}, wait.then);
}

}  // namespace orrery
