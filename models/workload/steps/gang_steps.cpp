#include "models/workload/steps/gang_steps.hpp"

#include <algorithm>
#include <utility>

#include "sim/core/check.hpp"

namespace orrery {

GangSteps::GangSteps(Sim sim, GangTraffic traffic, const JobTable& jobs, JobController& controller,
                     Network* network, Storage* storage, StepDetail steps)
    : sim_{sim},
      traffic_{std::move(traffic)},
      jobs_{jobs},
      controller_{controller},
      network_{network} {
  if (steps == StepDetail::Traced) {
    tracer_.emplace(sim.engine, network != nullptr ? &network->flows() : nullptr);
    tracer_->pace_changed.connect([this](JobId job, Pace pace) { pace_changed.emit(job, pace); });
    tracer_->step_done.connect([this](JobId job) {
      if (readers_) readers_->step_done(job);
      step_done.emit(job);
    });
    tracer_->transfer_due.connect([this](JobId job) { watch(job); });
  } else if (network != nullptr) {
    links_.emplace(sim.engine, network->flows());
    links_->changed.connect([this](JobId job) {
      gangs_[job.index].step = links_->step(job);
      apply(job);
    });
  }
  if (storage != nullptr) {
    readers_.emplace(sim.engine, *storage);
    readers_->changed.connect([this](JobId job) { data_rate_changed(job); });
  }
  if (network == nullptr) return;
  network->routes_changed.connect([this](const Network::RouteNews& news) { reroute(news); });
}

std::optional<GangStart> GangSteps::begins(JobId id) {
  const GangPlaces places = traffic_.places_of(id);
  if (places.ranks.empty()) return {};
  if (id.index >= gangs_.size()) gangs_.resize(id.index + size_t{1});
  SteppingGang& gang = gangs_[id.index];
  gang = {.is_running = true, .plan = traffic_.plan_of(id, places)};
  find_traffic(id, places);
  const Job& job = jobs_.job(id);
  if (job.spec.dataset) {
    // `across` limits the reader's rate for the whole run. So `across` ignores outages, which may
    // end before the run does.
    const StepActivity& activity = gang.traffic.activity;
    const bool has_rate = gang.crosses_nodes() && activity.rate_max > Bandwidth{};
    const Duration across = has_rate ? activity.bytes / activity.rate_max : Duration{};
    readers_->begin(id, *job.spec.dataset, places.nodes, static_cast<int32_t>(places.ranks.size()),
                    gang.cycle.length(across));
  }
  if (!tracer_) find_step(id);
  const auto& model = job.spec.step->model;
  const Duration reference =
      model ? compute_time(*job.spec.step, job.gpus, reference_rate(*model)) : gang.plan.compute;
  return GangStart{
      .work = work_at(job.spec.work, reference, gang.plan.compute),
      .checkpoint_interval = in_whole_steps(job.spec.checkpoint_interval, gang.plan.compute),
      .servers = dedicated_servers(gang.plan, places.ranks),
      .pace = tracer_ ? Pace::of_step(gang.plan.compute, Duration::max()) : gang.pace(),
      .is_traced = tracer_.has_value()};
}

void GangSteps::connect(JobNews& jobs) {
  jobs.phase_changed.connect(
      [this](JobId job, JobPhase, JobPhase after) { phase_changed(job, after); });
  jobs.pace_changed.connect(*this, &GangSteps::controller_changed_pace);
}

void GangSteps::phase_changed(JobId job, JobPhase after) {
  if (after != JobPhase::Running || view(job).cycle == nullptr) return;
  const SteppingGang& gang = gangs_[job.index];
  if (tracer_) {
    return tracer_->begin(job, gang.cycle, gang.traffic.activity,
                          controller_.work(job) - controller_.done(job));
  }
  book(job);
  watch(job);
}

void GangSteps::ends(JobId job) {
  if (job.index >= gangs_.size() || !gangs_[job.index].is_running) return;
  SteppingGang& gang = gangs_[job.index];
  if (tracer_) tracer_->end(job);
  if (links_) links_->remove(job);
  if (readers_) readers_->end(job);
  if (sim_.engine.cancel(gang.gives_up)) --counters_.standing_still;
  if (network_ != nullptr) {
    network_->flows().end(gang.carried);
    network_->release(gang.traffic.load);
  }
  gang = {};
}

void GangSteps::find_traffic(JobId job, const GangPlaces& places) {
  SteppingGang& gang = gangs_[job.index];
  GangTraffic::Found found = traffic_.find(job, gang.plan, places, gang.traffic.load);
  if (network_ != nullptr) {
    network_->release(gang.traffic.load);
    network_->hold(found.load);
    network_->flows().end(gang.carried);
    if (!tracer_) gang.carried = network_->flows().carry(found.activity.fabric.uses);
  }
  gang.traffic = std::move(found);
  const Duration reading = gang.cycle.reading;
  gang.cycle = cycle_of(gang.plan, gang.traffic.activity.inside);
  gang.cycle.reading = reading;
}

// For a gang on shared links, the duration of a step is first computed as if no other gang used the
// links. SharedLinks::settle() later computes it with the other gangs, and SharedLinks::changed
// reports it.
void GangSteps::find_step(JobId job) {
  SteppingGang& gang = gangs_[job.index];
  const StepActivity& activity = gang.traffic.activity;
  if (gang.crosses_nodes() && gang.is_connected()) {
    links_->set(job, {.cycle = gang.cycle,
                      .bytes = activity.bytes,
                      .rate_max = static_cast<double>(activity.rate_max.bits_per_s),
                      .uses = activity.fabric.uses});
    gang.step = links_->step(job);
    return;
  }
  if (links_) links_->remove(job);
  gang.step.across = gang.crosses_nodes() ? Duration::max() : Duration{};
  gang.step.length = gang.cycle.length(gang.step.across);
}

void GangSteps::apply(JobId job) {
  pace_changed.emit(job, gangs_[job.index].pace());
  book(job);
  watch(job);
}

void GangSteps::reroute(const Network::RouteNews& news) {
  for (uint32_t j = 0; j < gangs_.size(); ++j) {
    const JobId job{j};
    const SteppingGang& gang = gangs_[j];
    const GangTraffic::Found& traffic = gang.traffic;
    if (!gang.is_running) continue;
    if (!news.concerns(traffic.activity.fabric.uses, traffic.has_detour)) continue;
    ++counters_.rerouted;
    find_traffic(job, traffic_.places_of(job));
    if (tracer_) {
      tracer_->reroute(job, traffic.activity);
      watch(job);
    } else {
      find_step(job);
      apply(job);
    }
  }
}

void GangSteps::data_rate_changed(JobId job) {
  SteppingGang& gang = gangs_[job.index];
  gang.cycle.reading = readers_->step_time(job);
  if (tracer_) return tracer_->set_reading(job, gang.cycle.reading);
  find_step(job);
  apply(job);
}

void GangSteps::controller_changed_pace(JobId job) {
  if (view(job).cycle == nullptr) return;
  if (tracer_) return tracer_->set_paused(job, controller_.is_paused(job));
  book(job);
}

// Passes the gang's present step rate to its dataset reader, and the mean rate of its exchanges
// across nodes to the flow network. Both rates are 0 while the gang's run is paused.
void GangSteps::book(JobId job) {
  SteppingGang& gang = gangs_[job.index];
  const double steps_per_s = 1e-6 * controller_.computing(job) / gang.plan.compute.seconds();
  if (readers_) readers_->set_step_rate(job, steps_per_s);
  const auto bits = static_cast<double>(gang.traffic.activity.bytes.count) * 8;
  if (network_ != nullptr) network_->flows().set_carried_rate(gang.carried, steps_per_s * bits);
}

GangSteps::View GangSteps::view(JobId job) const {
  if (job.index >= gangs_.size() || !gangs_[job.index].is_running) return {};
  const SteppingGang& gang = gangs_[job.index];
  return {.cycle = &gang.cycle,
          .across = gang.step.across,
          .bytes = gang.traffic.activity.bytes,
          .is_traced = tracer_.has_value(),
          .is_updating = tracer_ && tracer_->is_updating(job)};
}

std::vector<double> GangSteps::nic_parts(JobId job) const {
  if (view(job).cycle == nullptr) return {};
  return traffic_.nic_parts(traffic_.places_of(job), gangs_[job.index].traffic.activity);
}

bool GangSteps::is_stuck(JobId job) const {
  const SteppingGang& gang = gangs_[job.index];
  if (!gang.is_running || network_ == nullptr || !gang.crosses_nodes()) return false;
  if (tracer_) return !gang.is_connected() && tracer_->is_transferring(job);
  return gang.step.across == Duration::max();
}

bool GangSteps::waits_in_vain(JobId job) const {
  return job.index < gangs_.size() && is_stuck(job) &&
         !sim_.engine.is_pending(gangs_[job.index].gives_up);
}

void GangSteps::watch(JobId job) {
  SteppingGang& gang = gangs_[job.index];
  if (!is_stuck(job)) {
    if (sim_.engine.cancel(gang.gives_up)) --counters_.standing_still;
    return;
  }
  if (sim_.engine.is_pending(gang.gives_up)) return;
  ++counters_.standing_still;
  gang.gives_up = sim_.engine.after(
      network_->gives_up_after(), Label{"steps.retries_used_up"}, [this, job] { give_up(job); },
      Phase::Control);
}

void GangSteps::give_up(JobId job) {
  ORRERY_MARK("gangs.gave_up");
  --counters_.standing_still;
  ++counters_.gave_up;
  controller_.abort(job);
}

}  // namespace orrery
