#include "models/control_plane/autoscaling/service_scaling.hpp"

#include <algorithm>
#include <cmath>

#include "sim/core/rng.hpp"

namespace orrery {
namespace {

// The last tick of a periodic clock up to `now`. If `now` is before the first tick, returns
// `first - period`.
Time last_tick(Time first, Duration period, Time now) {
  if (now < first) return first - period;
  return first + period * ((now - first) / period);
}

double use_of(double load, int32_t running) {
  return running == 0 ? 0 : std::min(1.0, load / running);
}

}  // namespace

ServiceScaling::ServiceScaling(Sim sim, const JobTable& jobs, JobController& controller)
    : sim_{sim},
      jobs_{jobs},
      controller_{controller},
      rows_{sim.recorder, "/events/service_scaling",
            "Changes of the number of replicas of services by their autoscalers."},
      samples_{sim.recorder, "/timeline/service_load", "Services: their load and replicas."} {}

void ServiceScaling::connect(JobNews& jobs, PodNews& pods) {
  jobs.job_arrived.connect(*this, &ServiceScaling::job_arrived);
  jobs.job_over.connect(*this, &ServiceScaling::job_over);
  pods.pod_runs.connect(*this, &ServiceScaling::pod_runs);
  pods.pod_removed.connect(*this, &ServiceScaling::pod_removed);
}

void ServiceScaling::job_arrived(JobId id) {
  const Job& job = jobs_.job(id);
  if (!job.spec.service) return;
  const HorizontalPodAutoscalerParams params =
      job.spec.service->autoscaler.value_or(HorizontalPodAutoscalerParams{});
  Service& service = services_.emplace(id, params).first->second;
  service.params = job.spec.service;
  Rng rng = sim_.rng.stream("control_plane.service_metrics", job.serial);
  const auto phase = [&](Duration period) {
    return now() + nearest_ns(period.seconds() * rng.uniform());
  };
  service.collected_first = phase(params.metrics_resolution);
  service.scraped_first = phase(params.scrape_interval);
  service.memory = params.metrics_resolution + params.scrape_interval * 3;
  service.spans.push_back({.from = now()});
  begin_steps(id);
  if (job.spec.service->autoscaler) plan_sync(id, service);
}

void ServiceScaling::job_over(JobId id) {
  const auto found = services_.find(id);
  if (found == services_.end()) return;
  change(found->first, found->second, [](Service& service) { service.running = 0; });
  sim_.engine.cancel(found->second.next_load);
  sim_.engine.cancel(found->second.next_sync);
  services_.erase(found);
}

void ServiceScaling::pod_runs(PodId pod) {
  const auto found = services_.find(jobs_.pod(pod).job);
  if (found == services_.end()) return;
  change(found->first, found->second, [](Service& service) { ++service.running; });
}

void ServiceScaling::pod_removed(PodId pod) {
  const auto found = services_.find(jobs_.pod(pod).job);
  if (found == services_.end() || jobs_.pod(pod).state != PodState::Running) return;
  change(found->first, found->second, [](Service& service) { --service.running; });
}

// ---- the load, and the use of each replica

// Accounts for the load since the last change, then applies `f`, which changes load or replicas.
template <class F>
void ServiceScaling::change(JobId job, Service& service, F&& f) {
  const Span last = service.spans.back();
  const double passed_s = (now() - last.from).seconds();
  totals_.load_s += service.load * passed_s;
  totals_.unserved_s += (service.load - last.use * service.running) * passed_s;
  f(service);
  service.spans.push_back({.from = now(),
                           .use = use_of(service.load, service.running),
                           .used_s = last.used_s + last.use * passed_s});
  const Time needed_from = now() - service.memory;
  while (service.spans.size() > 1 && service.spans[1].from <= needed_from) {
    service.spans.pop_front();
  }
  controller_.set_use(job, service.spans.back().use);
}

// Applies the load steps that are due, and plans an event for the next one.
void ServiceScaling::begin_steps(JobId id) {
  Service& service = services_.at(id);
  const std::vector<LoadStepParams>& steps = service.params->load;
  for (; service.steps_begun < steps.size(); ++service.steps_begun) {
    const LoadStepParams& step = steps[service.steps_begun];
    if (Time{} + step.at > now()) {
      service.next_load = sim_.engine.at(Time{} + step.at, Label{"services.load_changed"},
                                         [this, id] { begin_steps(id); });
      return;
    }
    change(id, service, [&](Service& changed) { changed.load = step.load; });
  }
}

double ServiceScaling::use_mean(const Service& service, Time from, Time to) {
  const auto used_until = [&](Time t) {
    const auto after = std::ranges::upper_bound(service.spans, t, {}, &Span::from);
    if (after == service.spans.begin()) return 0.0;
    const Span& span = *std::prev(after);
    return span.used_s + span.use * (t - span.from).seconds();
  };
  return (used_until(to) - used_until(from)) / (to - from).seconds();
}

// ---- autoscalers

void ServiceScaling::plan_sync(JobId id, Service& service) {
  service.next_sync = sim_.engine.after(
      service.params->autoscaler->sync_period, Label{"services.autoscaler_synced"},
      [this, id] { sync(id); }, Phase::Control);
}

ReplicaUse ServiceScaling::collected(JobId id, const Service& service) const {
  const HorizontalPodAutoscalerParams& params = *service.params->autoscaler;
  const Time collected =
      last_tick(service.collected_first, params.metrics_resolution, sim_.engine.now());
  const Time scraped = last_tick(service.scraped_first, params.scrape_interval, collected);
  const Job& job = jobs_.job(id);
  ReplicaUse use;
  JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId at) {
    const Pod& pod = jobs_.pod(at);
    if (pod.state == PodState::Absent) return;
    if (pod.state != PodState::Running) {
      ++use.not_ready;
    } else if (pod.started > scraped) {
      ++use.not_found;
    } else if (pod.started > scraped - params.scrape_interval) {
      ++use.not_ready;
    } else {
      ++use.measured;
    }
  });
  if (use.measured == 0) return use;
  const double mean = use_mean(service, scraped - params.scrape_interval, scraped);
  use.use_milli = use.measured * std::llround(1000 * mean);
  return use;
}

void ServiceScaling::sync(JobId id) {
  Service& service = services_.at(id);
  const HorizontalPodAutoscalerParams& params = *service.params->autoscaler;
  const int32_t before = controller_.replicas(id);
  const ReplicaUse use = collected(id, service);
  plan_sync(id, service);
  if (use.measured == 0) return;
  const int32_t recommended = recommended_replicas(params, before, use);
  const int32_t after = service.limits.limit(now(), before, recommended);
  if (after == before) return;
  service.limits.changed(now(), before, after);
  ++(after > before ? totals_.ups : totals_.downs);
  rows_.emit({.time = now(),
              .service = std::string_view{jobs_.job(id).spec.name},
              .before = before,
              .after = after,
              .recommended = recommended,
              .running = service.running,
              .use = static_cast<double>(use.use_milli) / (1000.0 * use.measured)});
  controller_.scale(id, after);
}

// ---- tables

void ServiceScaling::sample(Time now) {
  for (const auto& [id, service] : services_) {
    samples_.emit({.time = now,
                   .service = std::string_view{jobs_.job(id).spec.name},
                   .replicas = controller_.replicas(id),
                   .running = service.running,
                   .load = service.load,
                   .use = service.spans.back().use});
  }
}

void ServiceScaling::finish() {
  for (auto& [id, service] : services_) change(id, service, [](Service&) {});
}

void ServiceScaling::add_summary(Recorder& recorder) const {
  const auto count = [&](std::string_view name, uint64_t n, std::string_view doc) {
    recorder.add_summary(name, static_cast<int64_t>(n), "", doc);
  };
  count("service_scale_ups", totals_.ups, "times that replicas were added to services");
  count("service_scale_downs", totals_.downs, "times that replicas were removed from services");
  recorder.add_summary("service_load_unserved",
                       totals_.load_s > 0 ? totals_.unserved_s / totals_.load_s : 0.0, "share",
                       "part of the services' load that exceeded the capacity of running replicas");
}

}  // namespace orrery
