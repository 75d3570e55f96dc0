// models/workload/gang_exchanges_pace.cpp -- how fast gangs go, and when they stand still.
#include <algorithm>
#include <cmath>
#include <utility>

#include "models/workload/gang_exchanges.hpp"
#include "sim/core/check.hpp"

namespace orrery {
namespace {

constexpr Duration kSoonest = 1_us;  // between two looks at how far a gang is that goes on

// By how long an exchange may be late without lengthening its step.
Duration slack_of(const StepPlan& plan, Duration exchange) {
  return std::max(Duration{}, std::min(hidden_time(plan), working_time(plan)) - exchange);
}

// Which part of a whole step the present one and the next one are; 0: there is none.
struct StepSizes {
  double present = 1, next = 1;
};

StepSizes sizes_of_steps(Duration compute, Duration left_from_begin) {
  const double left = left_from_begin.seconds() / compute.seconds();
  return {std::min(left, 1.0), std::clamp(left - 1, 0.0, 1.0)};
}

Duration part_of(Duration span, double part) {
  return part == 1 ? span : nearest_ns(span.seconds() * part);
}

// When an exchange cannot be put off any longer without lengthening its step.
struct Due {
  Duration left;
  Duration slack;  // for which it will have been put off
};

Due due_after(Duration left, Duration begin, Duration slack, double next) {
  if (next == 0) return {Duration::max(), {}};
  return {left + part_of(begin + slack, next), part_of(slack, next)};
}

// From so far in a step.
Due until_due(const StepPlan& plan, Duration inside, Duration exchange, Duration step,
              Duration since, const StepSizes& sizes) {
  const Duration working = working_time(plan);
  const Duration begin = working - std::min(hidden_time(plan), working) + inside;
  const Duration slack = slack_of(plan, exchange), slack_now = part_of(slack, sizes.present);
  const Duration begins = part_of(begin, sizes.present);
  if (since <= begins) return {begins - since + slack_now, slack_now};
  const Duration moves = part_of(exchange - inside, sizes.present);
  if (since < begins + moves) return {slack_now, slack_now};
  const Duration left = std::max(Duration{}, part_of(step, sizes.present) - since);
  return due_after(left, begin, slack, sizes.next);
}

// The same for a gang that is known to be there.
Due until_due(const StepPlan& plan, Duration inside, Duration exchange, const StepPosition& at,
              double next) {
  const Duration working = working_time(plan);
  const Duration begin = working - std::min(hidden_time(plan), working);
  const Duration slack = slack_of(plan, exchange), slack_now = part_of(slack, at.part);
  switch (at.exchange) {
    case StepPosition::Exchange::Waits: {
      const Duration worked = part_of(working, at.part) - at.computing;
      return {part_of(begin, at.part) - worked + at.inside + slack_now, slack_now};
    }
    case StepPosition::Exchange::Inside:
      return {at.inside + slack_now, slack_now};
    case StepPosition::Exchange::Moves:
      return {};
    case StepPosition::Exchange::Over:
      break;
  }
  const Duration left = std::max(at.computing + at.update, at.at_least);
  return due_after(left, begin + inside, slack, next);
}

}  // namespace

// As of the last settling.
Bandwidth GangExchanges::rate_of(const Gang& gang) const {
  const double rate = std::min(network_->flows().rate(gang.flow),
                               static_cast<double>(gang.activity.rate_max.bits_per_s));
  return {std::llround(rate)};
}

void GangExchanges::set_rate(Gang& gang, Bandwidth rate) {
  const bool moves = gang.activity.bytes == Bytes{} || rate > Bandwidth{};
  gang.rate = rate;
  gang.shared = moves ? exchange_time(gang.activity, rate) : Duration::max();
  if (tracer_) gang.exchange = gang.shared;
}

// It gets less than its links would let it have alone. Then it will be played, unless it meets too
// many, and its progress must say where it would be if it met nobody.
bool GangExchanges::shares_links(const Gang& gang) const {
  if (network_ == nullptr || gang.flow == FlowId{}) return false;
  const FlowNetwork& flows = network_->flows();
  double alone = flows.rate_max(gang.flow);
  for (const MaxMin::Use& use : flows.uses(gang.flow)) {
    alone = std::min(alone, flows.capacity(use.link) / use.weight);
  }
  return static_cast<double>(gang.rate.bits_per_s) < alone * (1 - 1e-9) - 1;
}

void GangExchanges::set_pace(JobId job) {
  Gang& gang = gangs_[job.index];
  const bool moves = gang.shared != Duration::max();
  gang.before = step_time_of(job);
  if (!moves && goes_on(job)) {  // as it went; a goal that it reached is none any more
    return controller_.set_pace(job, controller_.run_now(job).terms.pace, gang.goal);
  }
  if (moves) {
    gang.due_at.reset();
    gang.slack = {};
  }
  gang.exchange = gang.shared;
  Duration step = moves ? step_time(gang.plan, gang.exchange) : Duration::max();
  if (readers_) step = std::max(step, readers_->step_time(job));
  const auto played = contending_ ? contending_->mean(job) : std::nullopt;
  if (played && moves) {
    step =
        nearest_ns(gang.plan.compute.seconds() * (played->span.seconds() / played->work.seconds()));
    const Duration least = exchange_time(gang.activity, gang.activity.rate_max);
    const Duration seen = step - step_time(gang.plan, {}) + hidden_time(gang.plan);
    gang.exchange = std::min(std::max(seen, least), gang.shared);
  }
  gang.step = moves ? step : Duration{};
  if (moves && played) {
    gang.counted_by.reset();
  } else if (moves && !shares_links(gang)) {
    const bool begins = (controller_.done(job) - gang.base).ns % gang.plan.compute.ns == 0;
    // Within a step another than before tells ContendingGangs where it is.
    if (!gang.counted_by || begins) gang.counted_by = gang.exchange;
  }
  if (moves && played) {
    controller_.set_pace(job, Pace::of_step(played->work, played->span), gang.goal);
  } else {
    const auto [pace, until] = lone_pace(job, step);
    controller_.set_pace(job, pace, until);
  }
  pace_changed(job);
  watch(job);
}

// And up to which progress. What is left for the last step takes as long as StepTracer makes it,
// which may be a nanosecond more or less than that part of a whole one: others may meet for that,
// or not.
std::pair<Pace, Duration> GangExchanges::lone_pace(JobId job, Duration step) const {
  const Gang& gang = gangs_[job.index];
  const std::pair whole{Pace::of_step(gang.plan.compute, step), gang.goal};
  if (!contending_ || step == Duration::max() || shares_links(gang)) return whole;
  const Duration work = controller_.work(job), last{(work - gang.base).ns % gang.plan.compute.ns};
  if (last == Duration{}) return whole;
  if (controller_.done(job) < work - last) {
    return {whole.first, std::min(gang.goal, work - last)};
  }
  StepParts shape = parts_of(job);
  shape.rate_max = static_cast<double>(gang.rate.bits_per_s);
  return {Pace::of_step(last, std::max(shape.scaled(shape.last_part).alone(), 1_ns)), gang.goal};
}

// Its exchanges cannot move: it computes on until one must. False: now.
bool GangExchanges::goes_on(JobId job) {
  Gang& gang = gangs_[job.index];
  if (gang.step == Duration{}) return false;
  if (!gang.due_at) find_due(job);
  const Duration done = controller_.done(job);
  const double length = gang.step.seconds() / gang.plan.compute.seconds();
  if (done >= *gang.due_at) return false;
  if (*gang.due_at == Duration::max() || sim_.engine.is_pending(gang.is_due)) return true;
  const Duration left = nearest_ns((*gang.due_at - done).seconds() * length);
  gang.is_due = sim_.engine.after(
      std::max(left, kSoonest), Label{"gangs.exchange_is_due"}, [this, job] { look_again(job); },
      Phase::Control);
  return true;
}

void GangExchanges::find_due(JobId job) {
  if (find_due_of_played(job)) return;
  Gang& gang = gangs_[job.index];
  const Duration done = controller_.done(job);
  const double length = gang.step.seconds() / gang.plan.compute.seconds();
  const Duration in_step{(done - gang.base).ns % gang.plan.compute.ns};
  const Duration left = controller_.work(job) - (done - in_step);
  const Due due =
      until_due(gang.plan, gang.activity.inside, gang.exchange, gang.step,
                nearest_ns(in_step.seconds() * length), sizes_of_steps(gang.plan.compute, left));
  gang.slack = due.slack;
  gang.due_at = progress_after(job, due.left);
}

// At its present step; max: never.
Duration GangExchanges::progress_after(JobId job, Duration span) const {
  const Gang& gang = gangs_[job.index];
  if (span == Duration::max()) return span;
  const double length = gang.step.seconds() / gang.plan.compute.seconds();
  return controller_.done(job) + nearest_ns(span.seconds() / length);
}

// The mean of its steps does not say where it is in the present one, but the play does. From there
// it goes on alone.
bool GangExchanges::find_due_of_played(JobId job) {
  const auto place = contending_ ? contending_->place(job) : std::nullopt;
  if (!place) return false;
  Gang& gang = gangs_[job.index];
  gang.exchange = place->exchange;
  gang.step = step_time(gang.plan, gang.exchange);
  if (readers_) gang.step = std::max(gang.step, readers_->step_time(job));
  if (!this->place(job, place->done, Pace::of_step(gang.plan.compute, gang.step))) return false;
  gang.counted_by = gang.exchange;
  const Due due =
      until_due(gang.plan, gang.activity.inside, gang.exchange, place->position, place->next);
  gang.slack = due.slack;
  gang.due_at = progress_after(job, due.left);
  return true;
}

// Its progress is so much, and goes on at that pace. False: it pauses, and has none.
bool GangExchanges::place(JobId job, Duration done, const Pace& pace) {
  Gang& gang = gangs_[job.index];
  const auto& [terms, progress, restore_from, is_paused, next_save] = controller_.run_now(job);
  if (is_paused || progress.half_written > Duration{}) return false;
  gang.before.at = kNever;
  const Duration most = std::min(terms.work - 1_ns, next_save);
  controller_.set_pace(job, pace, gang.goal,
                       std::clamp(done, std::min(progress.saved, most), most));
  return true;
}

// It goes as if it could exchange, until it must.
void GangExchanges::begin_cut_off(JobId job) {
  Gang& gang = gangs_[job.index];
  if (gang.activity.bytes > Bytes{} && gang.activity.rate_max <= Bandwidth{}) return;
  gang.exchange = exchange_time(gang.activity, gang.activity.rate_max);
  if (gang.exchange == Duration::max()) return;
  gang.step = step_time(gang.plan, gang.exchange);
  gang.counted_by = gang.exchange;
  controller_.set_pace(job, Pace::of_step(gang.plan.compute, gang.step), gang.goal);
}

// Pauses may have held it up.
void GangExchanges::look_again(JobId job) {
  if (gangs_[job.index].shared == Duration::max()) set_pace(job);
}

// The flow counts what steps really put on the links: each its bytes, in as many steps as the GPUs
// find time to compute.
void GangExchanges::pace_changed(JobId job) {
  if (tracer_) return tracer_->set_paused(job, controller_.is_paused(job));
  if (network_ == nullptr || job.index >= gangs_.size()) return;
  Gang& gang = gangs_[job.index];
  const bool is_paused = controller_.is_paused(job);
  if (std::exchange(gang.is_paused, is_paused) != is_paused) contending_->gang_stopped(job);
  if (gang.flow == FlowId{} || gang.rate <= Bandwidth{}) return;
  const double steps_per_s = 1e-6 * controller_.computing(job) / gang.plan.compute.seconds();
  const double seconds = static_cast<double>(gang.activity.bytes.count) * 8 /
                         static_cast<double>(gang.rate.bits_per_s);
  network_->set_duty(gang.flow, std::max(seconds * steps_per_s, 0.0));
}

// Before its pace changed in this instant, or now.
GangExchanges::StepTime GangExchanges::step_time_of(JobId job) const {
  const Gang& gang = gangs_[job.index];
  if (gang.before.at == sim_.engine.now()) return gang.before;
  const RunNow run = controller_.run_now(job);
  const Pace& pace = run.terms.pace;
  const Duration done = run.progress.done() - gang.base, in_step{done.ns % gang.plan.compute.ns};
  const Duration left = run.terms.work - gang.base - (done - in_step);
  return {sim_.engine.now(), pace.span_of(std::min(gang.plan.compute, left)),
          pace.since(in_step, run.progress.rest), gang.counted_by};
}

StepParts GangExchanges::parts_of(JobId job) const {
  const Gang& gang = gangs_[job.index];
  const Duration working = working_time(gang.plan), compute = gang.plan.compute;
  const Duration last{(controller_.work(job) - gang.base).ns % compute.ns};
  return {.compute = compute,
          .working = working,
          .overlap = std::min(hidden_time(gang.plan), working),
          .inside = gang.activity.inside,
          .update = gang.plan.fixed,
          .at_least = readers_ ? readers_->step_time(job) : Duration{},
          .bits = static_cast<double>(gang.activity.bytes.count) * 8,
          .rate_max = static_cast<double>(gang.activity.rate_max.bits_per_s),
          .last_part = last > Duration{} ? last.seconds() / compute.seconds() : 1};
}

// What ContendingGangs asks for.
std::optional<ContendingGangs::Gang> GangExchanges::playable(JobId job) const {
  if (job.index >= gangs_.size() || !gangs_[job.index].is_running) return {};
  const Gang& gang = gangs_[job.index];
  const bool is_cut_off = gang.shared == Duration::max();
  if (!is_cut_off && gang.flow == FlowId{}) return {};
  const auto& [terms, progress, restore_from, is_paused, next_save] = controller_.run_now(job);
  const Duration step = gang.plan.compute;
  const StepTime now = step_time_of(job);
  ContendingGangs::Gang told{.flow = gang.flow,
                             .shape = parts_of(job),
                             .done = progress.done(),
                             .base = gang.base,
                             .step = now.step,
                             .in_step = now.in_step,
                             .steps = (terms.work - gang.base + step - 1_ns) / step,
                             .is_stopped = is_paused,
                             .is_cut_off = is_cut_off,
                             .counted_by = now.counted_by,
                             .has_changed = now.counted_by && *now.counted_by != gang.exchange};
  const bool is_event = terms.plan.interval == Duration{};
  const bool saves_at_once = !is_event && terms.plan.write == Duration{};
  if (next_save == Duration::max() || saves_at_once) return told;
  const Duration ahead = next_save - told.done;
  const bool is_saving = progress.half_written > Duration{};
  told.shape.save_every = controller_.checkpoint_interval(job) / step;
  told.shape.save = is_event ? Duration::max() : terms.plan.write;
  told.pause = is_saving ? terms.plan.write - progress.half_written : Duration{};
  told.to_save = is_saving ? told.shape.save_every : (ahead + step - 1_ns) / step;
  return told;
}

void GangExchanges::watch(JobId job) {
  Gang& gang = gangs_[job.index];
  if (network_ == nullptr) return;
  if (gang.exchange != Duration::max() || (tracer_ && !tracer_->is_transferring(job))) {
    if (sim_.engine.cancel(gang.gives_up)) --standing_still_;
    return;
  }
  if (sim_.engine.is_pending(gang.gives_up)) return;
  ++standing_still_;
  gang.gives_up = sim_.engine.after(
      std::max(Duration{}, network_->gives_up_after() - gang.slack), Label{"gangs.retries_used_up"},
      [this, job] { give_up(job); }, Phase::Control);
}

void GangExchanges::give_up(JobId job) {
  ORRERY_MARK("gangs.gave_up");
  --standing_still_;
  ++gave_up_;
  controller_.abort(job);
}

}  // namespace orrery
