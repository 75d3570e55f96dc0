#include "models/workload/lifecycle/runs/training_runs.hpp"

#include <algorithm>
#include <utility>

#include "models/workload/training/checkpoint_params.hpp"
#include "sim/core/check.hpp"

namespace orrery {
namespace {

RunStop overrun() {
  return {.ending = {.after = {}, .exit_code = kTerminated, .cause = EndCause::TimeLimit},
          .pod = {},
          .is_final = true};
}

}  // namespace

TrainingRuns::TrainingRuns(Sim sim, JobTable& jobs, const JobControllerParams& params,
                           JobAccounts& accounts, JobPhases& phases, RecoveryLog& recoveries,
                           JobNews& news, Storage* storage, size_t nodes)
    : sim_{sim},
      jobs_{jobs},
      overruns_{params.overruns},
      accounts_{accounts},
      phases_{phases},
      recoveries_{recoveries},
      news_{news},
      ends_{sim.rng, jobs} {
  phases_.changing.connect([this](JobId job, JobPhase before, JobPhase after) {
    std::optional<Time>& first = accounts_.of(job).first_running;
    if (after == JobPhase::Running && !first) first = sim_.engine.now();
    if (before == JobPhase::Running && pace_model_ != nullptr) pace_model_->ends(job);
  });
  if (storage == nullptr) return;
  checkpoints_.emplace(*storage, jobs);
  disks_lost_.resize(nodes);
}

void TrainingRuns::use(PaceModel& model) {
  pace_model_ = &model;
  model.pace_changed.connect([this](JobId job, Pace pace) { set_pace(job, pace); });
  model.step_done.connect([this](JobId job) { step_done(job); });
}

void TrainingRuns::admitted(JobId id) {
  if (id.index >= jobs_run_.size()) jobs_run_.resize(jobs_.jobs_bound());
  if (jobs_.pods_bound() > pods_run_.size()) pods_run_.resize(jobs_.pods_bound());
  const Job& job = jobs_.job(id);
  JobRun& run = jobs_run_[id];
  run = {};
  run.work = job.spec.work;
  run.checkpoint_interval = job.spec.checkpoint_interval;
  JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId pod) { pods_run_[pod] = {}; });
}

// ---- gangs and counted jobs

void TrainingRuns::restore(JobId id, Time from) {
  accounts_.of(id).loads_from = from;
  find_local(id);
  const JobSpec& spec = jobs_.job(id).spec;
  JobRun& run = jobs_run_[id];
  const bool has_saved = run.progress.saved > Duration{};
  if (spec.checkpoint && has_saved) {
    run.event = sim_.engine.at(from, Label{"jobs.restore_begins"},
                               [this, id] { checkpoints_->read(id, [this, id] { read(id); }); });
    return;
  }
  const Duration takes = has_saved ? std::max(spec.restore, run.restart) : Duration{};
  if (from + takes == sim_.engine.now()) return loaded.emit(id);
  run.event =
      sim_.engine.at(from + takes, Label{"jobs.gang_runs"}, [this, id] { loaded.emit(id); });
}

// The store has delivered the checkpoint. After a suspension, loading takes at least `run.restart`.
void TrainingRuns::read(JobId id) {
  JobRun& run = jobs_run_[id];
  const Time least = accounts_.of(id).loads_from + run.restart;
  if (least <= sim_.engine.now()) return loaded.emit(id);
  run.event = sim_.engine.at(least, Label{"jobs.gang_runs"}, [this, id] { loaded.emit(id); });
}

// A gang with fewer members takes proportionally longer: the members share the work of the missing
// members. Example: 10 h of work on 8 members take 13 h 20 min on 6.
Duration TrainingRuns::work_of_members(JobId id) const {
  const Job& job = jobs_.job(id);
  if (!job.is_elastic) return job.spec.work;
  int64_t all_gpus = 0, all_pods = 0;
  for (uint32_t r = 0; r < static_cast<uint32_t>(job.roles); ++r) {
    const RoleSpec& role = jobs_.role_spec(RoleId{job.first_role.index + r});
    if (!role.takes_part) continue;
    all_gpus += int64_t{role.pods} * role.spec.gpus;
    all_pods += role.pods;
  }
  const JobTable::Members members = jobs_.taking_part(id);
  const bool by_gpus = members.gpus > 0;
  const int64_t all = by_gpus ? all_gpus : all_pods;
  const int64_t there = by_gpus ? members.gpus : members.pods;
  if (there == all) return job.spec.work;
  const int128_t work = (int128_t{job.spec.work.ns} * all + there - 1) / there;
  return {static_cast<int64_t>(std::min<int128_t>(work, kNeverEnds.ns))};
}

void TrainingRuns::begin(JobId id, int64_t gpu_milli) {
  const Job& job = jobs_.job(id);
  JobRun& run = jobs_run_[id];
  run.gpu_milli = gpu_milli;
  run.serving_gpu_milli = 0;
  run.is_suspending = run.is_traced = false;
  run.restart = {};
  accounts_.of(id).loads_from = Time::max();
  GangStart start{.work = work_of_members(id),
                  .checkpoint_interval = job.spec.checkpoint_interval,
                  .pace = run.pace};
  if (job.spec.step && pace_model_ != nullptr) {
    if (auto modelled = pace_model_->begins(id)) start = std::move(*modelled);
  }
  take_terms(id, start);
  resume(run.progress, sim_.engine.now());
  run.progress.resumed_from = run.progress.saved;
  run.snapshot = snapshot(run.progress);
  run.end = ends_.of(id, run.starts++, run.progress.saved, run.work);
  recoveries_.resumed(run.recovery, time_to_redo(run, terms(id)));
  compute(id);
}

// Progress is measured in compute time, which depends on the gang's members and GPU model. If the
// job's compute time changes with them, its progress is scaled by the same factor.
void TrainingRuns::take_terms(JobId id, const GangStart& start) {
  JobRun& run = jobs_run_[id];
  for (const PodId pod : start.servers) {
    jobs_.pod(pod).serves = true;
    run.gpu_milli -= accounts_.gpu_milli(pod);
    run.serving_gpu_milli += accounts_.gpu_milli(pod);
  }
  const auto rescale = [&](Duration& done) {
    done = {static_cast<int64_t>(int128_t{done.ns} * start.work.ns / run.work.ns)};
  };
  if (start.work != run.work) {
    rescale(run.progress.saved);
    rescale(run.redo_until);
    rescale(run.safe);
  }
  run.work = start.work;
  run.checkpoint_interval = start.checkpoint_interval;
  run.pace = start.pace;
  run.is_traced = start.is_traced;
}

Duration TrainingRuns::time_to_redo(const Run& run, const RunTerms& terms) const {
  return run.redo_until <= run.progress.done() ? Duration{}
                                               : time_until(run.progress, terms, run.redo_until);
}

// Schedules the end of the run or its next checkpoint event, whichever is first. A traced gang gets
// an event only for its time limit. After each of its steps, step_done() checks whether the run
// ends or a checkpoint is due.
void TrainingRuns::compute(JobId id) {
  JobRun& run = jobs_run_[id];
  const Duration last = run.end ? std::min(run.end->ending.after, run.work) : run.work;
  const Duration next = next_save(id);
  const bool saves = next < last;
  const Duration stop = std::max(std::min(next, last), run.progress.done());
  const Duration span = run.is_traced ? Duration::max() : time_until(run.progress, terms(id), stop);
  const Duration limit = time_limit(jobs_.job(id).spec, overruns_) - run.computed;
  const bool in_time = span <= limit;
  if (in_time && span == Duration::max()) return;  // the run stands still, or is traced
  if (in_time && saves) {
    run.event =
        sim_.engine.after(span, Label{"jobs.checkpoint_due"}, [this, id] { checkpoint_due(id); });
    return;
  }
  const bool is_cut = run.end && run.end->ending.after <= run.work;
  run.next = !in_time ? overrun() : is_cut ? *run.end : RunStop{};
  run.event =
      sim_.engine.after(in_time ? span : std::max(limit, Duration{}), Label{"jobs.gang_completed"},
                        [this, id] { stopped.emit(id, RunStop{jobs_run_[id].next}); });
}

// Progress at which the next checkpoint is due; Duration::max() if the job's checkpoints are not
// simulated by events.
Duration TrainingRuns::next_save(JobId id) const {
  const JobRun& run = jobs_run_[id];
  return saves_by_events(id) ? run.snapshot.done + run.checkpoint_interval : Duration::max();
}

void TrainingRuns::step_done(JobId id) {
  book(id);
  JobRun& run = jobs_run_[id];
  const Duration done = run.progress.done();
  const bool is_cut = run.end && done >= run.end->ending.after;
  if (is_cut || done >= run.work) {
    sim_.engine.cancel(run.event);
    return stopped.emit(id, is_cut ? RunStop{*run.end} : RunStop{});
  }
  if (done < next_save(id)) return;
  sim_.engine.cancel(run.event);
  checkpoint_due(id);
}

void TrainingRuns::set_pace(JobId id, Pace pace) {
  if (!takes_pace(id, pace)) return;
  go_at(id, pace);
  compute_on(id);
}

void TrainingRuns::go_at(JobId id, Pace pace) {
  JobRun& run = jobs_run_[id];
  if (phases_.of(id) == JobPhase::Running) {
    book(id);
    if (!run.is_paused) sim_.engine.cancel(run.event);  // otherwise the event ends the pause
  }
  change_pace(run.progress);
  run.pace = pace;
}

void TrainingRuns::compute_on(JobId id) {
  JobRun& run = jobs_run_[id];
  if (phases_.of(id) != JobPhase::Running || run.is_paused) return;
  compute(id);
  recoveries_.paced(run.recovery, time_to_redo(run, terms(id)));
  news_.pace_changed.emit(id);
}

void TrainingRuns::stop(JobId id) {
  sim_.engine.cancel(jobs_run_[id].event);
  drop_checkpoint(id);
}

// ---- independent pods

void TrainingRuns::begin(PodId id) {
  const Pod& pod = jobs_.pod(id);
  const Job& job = jobs_.job(pod.job);
  const RoleSpec& role = jobs_.role_spec(id);
  Run& run = pods_run_[id];
  const Time now = sim_.engine.now();
  accounts_.loads_from(id, Time::max());
  resume(run.progress, now);
  const RunTerms terms = this->terms(id);
  recoveries_.resumed(run.recovery, time_to_redo(run, terms));
  if (job.spec.service) return;
  run.end = ends_.of(id, run.starts++, run.progress.saved);
  const bool is_cut = run.end && run.end->ending.after <= terms.work;
  const Duration span = is_cut ? time_until(run.progress, terms, run.end->ending.after)
                               : time_left(run.progress, terms);
  const Duration since = now - accounts_.of(pod.job).first_running.value_or(now);
  const Duration limit = time_limit(job.spec, overruns_) - since;
  const bool in_time = span <= limit;
  if (in_time && !is_cut && !role.exits) return;
  run.next = !in_time ? overrun() : is_cut ? *run.end : RunStop{};
  run.event =
      sim_.engine.after(in_time ? span : std::max(limit, Duration{}), Label{"jobs.pod_completed"},
                        [this, id] { pod_stopped.emit(id, RunStop{pods_run_[id].next}); });
}

// ---- queries

RunTerms TrainingRuns::terms(JobId id) const {
  const JobRun& run = jobs_run_[id];
  if (saves_by_events(id)) return {run.work, {}, run.pace};
  const Duration write = jobs_.job(id).spec.checkpoint_write;
  return {run.work, {run.checkpoint_interval, write}, run.pace};
}

RunTerms TrainingRuns::terms(PodId id) const {
  RunTerms terms = this->terms(jobs_.pod(id).job);
  const RoleSpec& role = jobs_.role_spec(id);
  if (!role.exits) terms.work = kNeverEnds;
  if (!role.saves) terms.plan = {};
  return terms;
}

RunNow TrainingRuns::now(JobId id) const {
  const JobRun& run = jobs_run_[id];
  RunNow result{.terms = terms(id),
                .progress = run.progress,
                .restore_from = accounts_.of(id).loads_from,
                .is_paused = is_paused(id)};
  const bool advances = phases_.of(id) == JobPhase::Running && !result.is_paused;
  if (advances) advance(result.progress, result.terms, sim_.engine.now());
  return result;
}

Duration TrainingRuns::unsaved(JobId id) const {
  if (phases_.of(id) != JobPhase::Running || jobs_run_[id].is_suspending) return {};
  RunProgress progress = now(id).progress;
  return orrery::lose(progress).lost;
}

Duration TrainingRuns::unsaved(PodId id) const {
  if (jobs_.pod(id).state != PodState::Running) return {};
  RunProgress progress = pods_run_[id].progress;
  advance(progress, terms(id), sim_.engine.now());
  return orrery::lose(progress).lost;
}

bool TrainingRuns::is_paused(JobId id) const {
  return jobs_run_[id].is_paused || jobs_run_[id].is_suspending;
}

int32_t TrainingRuns::computing(JobId id) const {
  if (is_paused(id)) return 0;
  return computing_millionths(terms(id), jobs_run_[id].progress.resumed_from);
}

}  // namespace orrery
