#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "models/workload/lifecycle/job_controller.hpp"
#include "models/workload/training/communicator_init.hpp"
#include "sim/core/check.hpp"

namespace orrery {

void JobController::pod_bound(PodId id) {
  Pod& pod = jobs_.pod(id);
  ORRERY_CHECK(pod.state == PodState::Pending, "only a pending pod is bound");
  ORRERY_CHECK(pod.node.is_valid() && cluster_.up().contains(pod.node),
               "pods go to nodes that are up");
  JobState& state = states_[pod.job];
  const Time now = sim_.engine.now();
  pod.state = PodState::Bound;
  pod.bound = now;
  PodRun& run = runs_[id];
  if (!run.is_reserved) run.held_from = now;
  run.is_reserved = false;
  on_nodes_.add(pod.node, id);
  ++state.bound;
  state.gpu_milli += gpu_milli(id);
  pod.takes_part = pod.gang.is_valid() && !jobs_.job(pod.job).is_elastic;
  begin_start(id);
  if (!pod.gang.is_valid()) {
    alone_bound(id);
    return;
  }
  ++jobs_.gang(pod.gang).bound;
  if (jobs_.job(pod.job).phase == JobPhase::Pending) gang_gathers(pod.job);
}

void JobController::begin_start(PodId id) {
  Pod& pod = jobs_.pod(id);
  runs_[id].is_awaited = false;
  pod.started = Time::max();
  if (api_ == nullptr) {
    pod.started = pod.bound + start_latency(id);
    return started_known(id);
  }
  api_->start(id, pod.node, [this, id, generation = pod.generation](Duration left) {
    start_known(id, generation, left);
  });
}

// The next pod of an ordered StatefulSet waits for this one, and so may its elastic gang.
void JobController::started_known(PodId id) {
  const Pod& pod = jobs_.pod(id);
  if (jobs_.job(pod.job).is_elastic) await_up(id);
  if (jobs_.job(pod.job).controller != WorkloadKind::OrderedStatefulSet) return;
  sim_.engine.at(pod.started, Label{"jobs.pod_ready"}, [this, id, generation = pod.generation] {
    if (jobs_.pod(id).generation == generation) queue_creation(jobs_.pod(id).job);
  });
}

// Unless it is gone. One that is bound for long may be awaited by its job, or by nobody.
void JobController::start_known(PodId id, uint64_t generation, Duration left) {
  Pod& pod = jobs_.pod(id);
  if (pod.generation != generation || pod.state != PodState::Bound) return;
  pod.started = sim_.engine.now() + left + start_latency(id);
  started_known(id);
  if (!std::exchange(runs_[id].is_awaited, false)) return;
  if (!pod.gang.is_valid()) return alone_starts(id);
  JobState& state = states_[pod.job];
  if (jobs_.job(pod.job).phase != JobPhase::Starting) return;
  state.barrier = std::max(state.barrier, pod.started);
  if (--state.awaited == 0) gang_starts(pod.job);
}

// In its job or gang, whichever pod it is: the order in which they are bound is nothing to these.
// A gang's first starts are numbered as its members are, later ones after those of all gangs.
uint32_t JobController::number_of_start(PodId id) {
  const Pod& pod = jobs_.pod(id);
  if (!pod.gang.is_valid()) return states_[pod.job].pods_started++;
  Gang& gang = jobs_.gang(pod.gang);
  const Job& job = jobs_.job(pod.job);
  const uint32_t started = gang.pods_started++, members = static_cast<uint32_t>(gang.pods);
  return gang.first.index - job.first_pod.index + started % members +
         started / members * static_cast<uint32_t>(job.pods);
}

Duration JobController::start_latency(PodId id) {
  const StartLatencyParams& params = params_.pod_start;
  if (params.sigma == 0) return params.median;
  Rng rng = sim_.rng.stream("workload.pod_start",
                            jobs_.job(jobs_.pod(id).job).serial << 32U | number_of_start(id));
  return nearest_ns(rng.lognormal(std::log(params.median.seconds()), params.sigma));
}

void JobController::remove_pod(PodId id, PodEnd why) {
  Pod& pod = jobs_.pod(id);
  if (pod.state == PodState::Absent || pod.state == PodState::Done) return;
  JobState& state = states_[pod.job];
  account_held(id, sim_.engine.now());
  const bool runs_alone = pod.state == PodState::Running && !pod.gang.is_valid();
  if (runs_alone && jobs_.job(pod.job).service) {
    keep_unsaved(gang(pod.job));  // what it answered stays answered
  } else if (runs_alone && why == PodEnd::JobFailed) {
    lose_unsaved(alone(id));
  }
  const bool had_node = pod.state != PodState::Pending;
  if (api_ != nullptr) api_->removed(id, had_node ? pod.node : NodeId{});
  if (had_node) {
    cluster_.give_back(pod.node, jobs_.request(id), pod.grant);
    on_nodes_.remove(pod.node, id);
    --state.bound;
    state.gpu_milli -= gpu_milli(id);
    if (pod.state == PodState::Running) {
      --state.running;
      if (!pod.gang.is_valid()) state.run_gpu_milli -= gpu_milli(id);
    }
  }
  if (pod.gang.is_valid()) {
    Gang& gang = jobs_.gang(pod.gang);
    --gang.created;
    if (had_node) --gang.bound;
    if (std::exchange(runs_[id].is_up, false)) --gang.up;
  }
  sim_.engine.cancel(runs_[id].event);
  runs_[id].is_awaited = false;
  if (why != PodEnd::Completed) state.ready_below = std::min(state.ready_below, pod.rank);
  write_pod_row(id, why, sim_.engine.now());
  pod_removed.emit(id);
  pod.state = why == PodEnd::Completed ? PodState::Done : PodState::Absent;
  pod.node = {};
  pod.grant = {};
  pod.takes_part = false;
}

void JobController::remove_pods(JobId id, PodEnd why) {
  const Job& job = jobs_.job(id);
  JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId pod) { remove_pod(pod, why); });
}

// ---- a node fails

void JobController::node_failed(NodeId node) {
  victims_.clear();
  struck_.clear();
  if (checkpoints_) disks_lost_[node] = sim_.engine.now();
  on_nodes_.collect(node, victims_);
  std::ranges::sort(victims_);
  for (const PodId id : victims_) {
    const JobId job = jobs_.pod(id).job;
    const bool is_gang = jobs_.pod(id).gang.is_valid();
    if (!is_gang) alone_struck(id, node);
    if (is_gang && !is_needed(id)) continue;
    if (states_[job].is_struck) continue;
    states_[job].is_struck = true;
    struck_.push_back(job);
    if (is_gang) gang_stops(job, node);
  }
  for (const PodId id : victims_) {
    remove_pod(id, PodEnd::NodeFailed);
    const Job& job = jobs_.job(jobs_.pod(id).job);
    // A gang that still gathers replaces the pod; one that was stopped comes back as a whole.
    const bool goes_on = job.phase == JobPhase::Pending || !states_[jobs_.pod(id).job].is_struck;
    const bool is_replaced = job.kind == JobKind::Pods || goes_on;
    if (is_gathering(jobs_.pod(id).job)) call_members(jobs_.pod(id).job);
    const LostPod lost{.pod = id,
                       .generation = jobs_.pod(id).generation,
                       .is_replaced = is_replaced,
                       .fails_job = is_replaced && states_[jobs_.pod(id).job].is_failing,
                       .at = sim_.engine.now()};
    if (is_replaced && node_detection() < Duration::max()) {
      want_later(node_detection() + restart_delay(jobs_.pod(id).job), lost);
    }
    if (hears_of_nodes_) lost_on_[node].push_back(lost);
  }
  counters_.pods_lost += victims_.size();
  for (const JobId id : struck_) {
    states_[id].is_struck = false;
    jobs_.job(id).kind == JobKind::Pods ? pods_job_struck(id) : gang_hangs(id, gang_patience());
  }
}

// Ranks that nobody tells wait for one on a dead node as they do for a dead process.
Duration JobController::gang_patience() const {
  if (!hears_of_nodes_) return node_detection();
  return std::min(node_detection(), params_.hang_timeout.value_or(Duration::max()));
}

// The node may have died again since: of those pods nobody has heard yet.
void JobController::pods_gone(NodeId node, Time lost_by) {
  std::vector<LostPod>& all = lost_on_[node];
  const auto later_ones =
      std::ranges::find_if(all, [&](const LostPod& l) { return l.at > lost_by; });
  std::vector<LostPod> lost(all.begin(), later_ones);
  all.erase(all.begin(), later_ones);
  std::erase_if(lost, [&](const LostPod& l) {
    const Pod& pod = jobs_.pod(l.pod);
    if (pod.generation != l.generation) return true;  // replaced, or gone with its job
    const JobId job = pod.job;
    const Time now = sim_.engine.now();
    if (RecoveryRow* const row = recoveries_.find(runs_[l.pod].run.recovery)) {
      row->detected = row->detected == kNever ? now : std::min(row->detected, now);
    }
    if (l.fails_job) {
      end_job(job, JobPhase::Failed);
      return true;
    }
    if (!l.is_replaced && jobs_.job(job).phase == JobPhase::Hung) {
      sim_.engine.cancel(states_[job].event);
      gang_detected(job);
    }
    return !l.is_replaced;
  });
  for (const LostPod& l : lost) {
    const Pod& pod = jobs_.pod(l.pod);
    if (pod.generation == l.generation) want_later(restart_delay(pod.job), l);
  }
}

// As the Job controller waits, longer after each failure.
Duration JobController::restart_delay(JobId id) const {
  const Duration most = params_.restart_delay_max.value_or(params_.restart_delay);
  Duration delay = params_.restart_delay;
  for (int32_t k = 1; k < states_[id].restarts && delay < most; ++k) delay = delay * 2;
  return std::min(delay, most);
}

// One event serves all that are due in one instant.
void JobController::want_later(Duration delay, const LostPod& lost) {
  const Time when = sim_.engine.now() + delay;
  std::vector<LostPod>& due = wanted_later_[when];
  due.push_back(lost);
  if (due.size() > 1) return;
  sim_.engine.at(
      when, Label{"jobs.replace_pods"},
      [this, when] {
        const auto now_due = wanted_later_.extract(when);
        for (const LostPod& l : now_due.mapped()) want_lost(l);
      },
      Phase::Control);
}

void JobController::want_lost(const LostPod& lost) {
  const Pod& pod = jobs_.pod(lost.pod);
  // Gone with its job, or back already because the gang was stopped meanwhile.
  if (pod.generation != lost.generation) return;
  if (comes_back_whole(jobs_.job(pod.job).phase)) return;
  want_pod(lost.pod);
  queue_creation(pod.job);
}

// ---- independent pods

void JobController::alone_bound(PodId id) {
  const Pod& pod = jobs_.pod(id);
  const Time now = sim_.engine.now();
  if (states_[pod.job].first_bound == kNever) states_[pod.job].first_bound = now;
  if (RecoveryRow* const row = recoveries_.find(runs_[id].run.recovery)) row->scheduled = now;
  if (pod.started != Time::max()) return alone_starts(id);
  runs_[id].is_awaited = true;
  runs_[id].run.restore_from = Time::max();
  refresh_phase(pod.job);
}

void JobController::alone_starts(PodId id) {
  const Pod& pod = jobs_.pod(id);
  const Job& job = jobs_.job(pod.job);
  Run& run = runs_[id].run;
  const Time now = sim_.engine.now();
  if (RecoveryRow* const row = recoveries_.find(run.recovery)) row->started = pod.started;
  run.restore_from = pod.started + init_time(job, job.gpus);
  const Time runs_at =
      run.restore_from + (run.progress.saved > Duration{} ? job.restore : Duration{});
  if (runs_at == now) {
    alone_runs(id);
    return;
  }
  runs_[id].event = sim_.engine.at(runs_at, Label{"jobs.pod_runs"}, [this, id] { alone_runs(id); });
  refresh_phase(pod.job);
}

void JobController::alone_runs(PodId id) {
  Pod& pod = jobs_.pod(id);
  const Job& job = jobs_.job(pod.job);
  Run& run = runs_[id].run;
  account_held(id, sim_.engine.now());
  if (job.service) keep_unsaved(gang(pod.job));  // with one replica less
  pod.state = PodState::Running;
  ++states_[pod.job].running;
  states_[pod.job].run_gpu_milli += gpu_milli(id);
  run.restore_from = Time::max();
  resume(run.progress, sim_.engine.now());
  recoveries_.resumed(run.recovery, time_to_redo(pod.job, run));
  if (!job.service) alone_goes_on(id);
  refresh_phase(pod.job);
  pod_runs.emit(id);
}

void JobController::alone_goes_on(PodId id) {
  const Pod& pod = jobs_.pod(id);
  const Job& job = jobs_.job(pod.job);
  const Run& run = runs_[id].run;
  const Duration span = time_left(run.progress, terms(pod.job));
  const Time first = states_[pod.job].first_running;
  const Duration since = first == kNever ? Duration{} : sim_.engine.now() - first;
  const Duration limit = time_limit(job, params_.overruns) - since;
  const bool in_time = span <= limit;
  runs_[id].event =
      sim_.engine.after(in_time ? span : std::max(limit, Duration{}), Label{"jobs.pod_completed"},
                        [this, id, in_time] { alone_completes(id, in_time); });
}

void JobController::alone_completes(PodId id, bool in_time) {
  const JobId job = jobs_.pod(id).job;
  if (!in_time) {  // the time of the job is up, with all its pods
    ORRERY_MARK("jobs.pods_overran");
    end_job(job, JobPhase::Failed);
    return;
  }
  keep_unsaved(alone(id));
  recoveries_.close(runs_[id].run.recovery, sim_.engine.now());
  remove_pod(id, PodEnd::Completed);
  if (++states_[job].done == jobs_.job(job).pods) {
    end_job(job, JobPhase::Completed);
  } else {
    refresh_phase(job);
  }
}

// Before the pod is removed. No valid node: none has failed.
void JobController::alone_stops(PodId id, NodeId node) {
  const Pod& pod = jobs_.pod(id);
  Run& run = runs_[id].run;
  run.redo_until = {};
  const bool loses = pod.state == PodState::Running && !jobs_.job(pod.job).service;
  const int128_t lost = loses ? lose_unsaved(alone(id)) : 0;
  recoveries_.close(run.recovery, sim_.engine.now());
  RecoveryRow row = recovery_row(pod.job, node, lost, gpu_milli(id));
  row.rank = pod.rank;
  row.nodes = 1;
  const Duration detection = node.is_valid() ? node_detection() : Duration{};
  if (detection < Duration::max()) row.detected = sim_.engine.now() + detection;
  row.is_preemption = !node.is_valid();
  run.recovery = recoveries_.open(row);
}

void JobController::alone_struck(PodId id, NodeId node) {
  const Pod& pod = jobs_.pod(id);
  JobState& state = states_[pod.job];
  alone_stops(id, node);
  // Like a Job's backoffLimit: one failed pod more than the limit fails the job.
  const std::optional<int32_t>& limit = jobs_.job(pod.job).restarts_max;
  if (limit.has_value() && state.restarts >= *limit) {
    state.is_failing = true;
    return;
  }
  ++state.restarts;
  ++counters_.restarts;
}

void JobController::pods_job_struck(JobId id) {
  JobState& state = states_[id];
  refresh_phase(id);
  if (!state.is_failing || sim_.engine.is_pending(state.event)) return;
  ORRERY_MARK("jobs.backoff_limit_exceeded");
  if (node_detection() == Duration::max()) return;  // until pods_gone()
  state.event = sim_.engine.after(
      node_detection(), Label{"jobs.gave_up"}, [this, id] { end_job(id, JobPhase::Failed); },
      Phase::Control);
}

// The job's phase is that of its foremost pod.
void JobController::refresh_phase(JobId id) {
  const JobState& state = states_[id];
  set_phase(id, state.running > 0 ? JobPhase::Running
                : state.bound > 0 ? JobPhase::Starting
                                  : JobPhase::Pending);
}

}  // namespace orrery
