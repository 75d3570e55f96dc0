#include "models/telemetry/timeline.hpp"

#include <algorithm>

#include "sim/core/check.hpp"

namespace orrery {
namespace {

constexpr uint32_t kNoTeam = UINT32_MAX;

}  // namespace

Timeline::Timeline(Sim sim, const ClusterState& cluster, const JobTable& jobs,
                   const GpuUsage& usage, const TimelineParams& params, TimelineProbes probes)
    : sim_{sim},
      cluster_{cluster},
      jobs_{jobs},
      usage_{usage},
      params_{params},
      probes_{std::move(probes)},
      useful_{params.interval},
      nodes_down_{static_cast<uint32_t>(cluster.nodes() - cluster.up().count())},
      cluster_rows_{sim.recorder, "/timeline/cluster", "The cluster over time."},
      useful_rows_{sim.recorder, "/timeline/useful",
                   "Useful compute over time; written at the end of the run."} {
  if (params_.between_teams() > Duration{}) {
    team_rows_.emplace(sim.recorder, "/timeline/teams",
                       "Teams over time: one row per team and sample.");
  }
}

void Timeline::connect(JobNews& jobs, PodNews& pods, NodeNews& nodes) {
  jobs.job_arrived.connect(*this, &Timeline::job_arrived);
  jobs.phase_changed.connect(*this, &Timeline::phase_changed);
  jobs.counted_holds.connect(*this, &Timeline::counted_holds);
  jobs.recovered.connect(*this, &Timeline::recovered);
  jobs.work_done.connect(*this, &Timeline::work_done);
  jobs.work_settled.connect(*this, &Timeline::work_settled);
  pods.pod_assigned.connect([this](PodId pod, NodeId) { pod_assigned(pod); });
  pods.pod_unassigned.connect([this](PodId pod, NodeId) { pod_unassigned(pod); });
  nodes.node_down.connect([this](NodeId, NodeReason why) {
    ++nodes_down_;
    if (why == NodeReason::Broken) ++nodes_failed_;
  });
  nodes.node_up.connect([this](NodeId) { --nodes_down_; });
}

void Timeline::start(Time until) {
  ORRERY_CHECK(sim_.engine.now() == Time{}, "intervals are counted from the start of the run");
  until_ = until;
  sampled_ = usage_.integrals(Time{});
  schedule_next();
}

void Timeline::schedule_next() {
  const Time next = sampled_to_ + params_.interval;
  if (next > until_ || next == Time::max()) return;
  sim_.engine.at(
      next, Label{"telemetry.sample"}, [this] { sample(); }, Phase::Record);
}

void Timeline::sample() {
  write_rows(sim_.engine.now());
  if (!probes_.is_over()) schedule_next();
}

void Timeline::finish(Time end) {
  if (end > sampled_to_) write_rows(end);
  size_t i = 0;
  useful_.for_each(sample_times_.size(), [&](int128_t computed) {
    const Time from = i == 0 ? Time{} : sample_times_[i - 1];
    const Time to = sample_times_[i++];
    useful_rows_.emit(
        {.time = to, .gpus_useful = mean_of(GpuRate::Computing, computed, to - from)});
  });
}

void Timeline::write_rows(Time now) {
  const GpuIntegrals sums = usage_.integrals(now);
  const Duration span = now - sampled_to_;
  const auto mean = [&](GpuRate r) {
    const auto i = static_cast<size_t>(r);
    return mean_of(r, sums[i] - sampled_[i], span);
  };
  cluster_rows_.emit({.time = now,
                      .gpus_total = static_cast<double>(cluster_.gpus_total()),
                      .gpus_up = mean(GpuRate::Up),
                      .gpus_allocated = mean(GpuRate::Allocated),
                      .gpus_reported = mean(GpuRate::Reported),
                      .gpu_power_watts = mean(GpuRate::Power),
                      .gpus_power = mean(GpuRate::Loaded),
                      .gpus_computing = mean(GpuRate::Computing),
                      .pods_pending = probes_.pods_pending(),
                      .gangs_pending = probes_.gangs_pending(),
                      .jobs_running = jobs_running_,
                      .jobs_pending = jobs_pending_,
                      .nodes_down = nodes_down_,
                      .failures = nodes_failed_,
                      .recoveries = recoveries_});
  sample_times_.push_back(now);
  sampled_ = sums;
  sampled_to_ = now;
  sampled.emit(now);
  if (team_rows_.has_value() && (now - Time{}) % params_.between_teams() == Duration{}) {
    for (const Team& team : teams_) {
      team_rows_->emit({.time = now,
                        .team = team.name,
                        .gpus_allocated = static_cast<double>(team.gpu_milli) / kMilli,
                        .jobs_pending = team.jobs_pending,
                        .jobs_running = team.jobs_running});
    }
  }
}

// ---- jobs and teams

uint32_t Timeline::team_of(const Job& job) {
  const auto [entry, is_new] =
      team_index_.try_emplace(job.spec.team, static_cast<uint32_t>(teams_.size()));
  if (is_new) teams_.push_back({.name = std::string_view{job.spec.team}});
  return entry->second;
}

void Timeline::count(JobId job, JobPhase phase, uint32_t step) {
  Team& team = teams_[team_of_job_[job.index]];
  if (phase == JobPhase::Pending) {
    jobs_pending_ += step;
    team.jobs_pending += step;
  } else if (phase == JobPhase::Running) {
    jobs_running_ += step;
    team.jobs_running += step;
  }
}

void Timeline::job_arrived(JobId id) {
  const Job& job = jobs_.job(id);
  if (id.index >= team_of_job_.size()) team_of_job_.resize(jobs_.jobs_bound(), kNoTeam);
  team_of_job_[id.index] = team_of(job);
  count(id, job.phase, 1);
}

void Timeline::phase_changed(JobId id, JobPhase before, JobPhase after) {
  count(id, before, UINT32_MAX);  // adds -1
  count(id, after, 1);
}

void Timeline::pod_assigned(PodId pod) {
  teams_[team_of_job_[jobs_.pod(pod).job.index]].gpu_milli +=
      jobs_.request(pod).resources[Resource::Gpu];
}

void Timeline::pod_unassigned(PodId pod) {
  teams_[team_of_job_[jobs_.pod(pod).job.index]].gpu_milli -=
      jobs_.request(pod).resources[Resource::Gpu];
}

void Timeline::counted_holds(JobId job, int64_t gpu_milli) {
  if (job.index >= counted_milli_.size()) counted_milli_.resize(jobs_.jobs_bound());
  int64_t& held = counted_milli_[job.index];
  teams_[team_of_job_[job.index]].gpu_milli += gpu_milli - held;
  held = gpu_milli;
}

void Timeline::recovered(const RecoveryRow& row) {
  if (row.caught_up != kNever) ++recoveries_;
}

}  // namespace orrery
