// models/workload/lifecycle/runs/training_runs.hpp -- progress and pace of jobs and pods, and how
// much of their work is saved.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "models/workload/job/job_news.hpp"
#include "models/workload/lifecycle/runs/pace_model.hpp"
#include "models/workload/lifecycle/runs/planned_ends.hpp"
#include "models/workload/lifecycle/runs/run.hpp"
#include "models/workload/lifecycle/runs/stored_checkpoints.hpp"
#include "models/workload/lifecycle/state/job_accounts.hpp"
#include "models/workload/lifecycle/state/job_controller_params.hpp"
#include "models/workload/lifecycle/state/job_phases.hpp"
#include "models/workload/lifecycle/state/recovery_log.hpp"

namespace orrery {

class TrainingRuns {
 public:
  TrainingRuns(Sim sim, JobTable& jobs, const JobControllerParams& params, JobAccounts& accounts,
               JobPhases& phases, RecoveryLog& recoveries, JobNews& news, Storage* storage,
               size_t nodes);

  void use(PaceModel& model);
  void admitted(JobId job);
  JobRun& of(JobId job) { return jobs_run_[job]; }
  const JobRun& of(JobId job) const { return jobs_run_[job]; }
  Run& of(PodId pod) { return pods_run_[pod]; }

  // Starts to load the checkpoint of a gang or counted job (Job::is_counted) at the time `from`.
  // Emits loaded() after the load, maybe at once.
  void restore(JobId job, Time from);
  // Starts the compute of a gang or counted job on `gpu_milli` milli-GPUs. Call after loaded().
  void begin(JobId job, int64_t gpu_milli);
  void set_pace(JobId job, Pace pace);
  // go_at() and compute_on() are the two parts of set_pace(). Between the two calls, the number of
  // GPUs that the job holds may change. Call them only if takes_pace() is true.
  bool takes_pace(JobId job, Pace pace) const {
    return !jobs_run_[job].is_suspending && jobs_run_[job].pace != pace;
  }
  void go_at(JobId job, Pace pace);
  void compute_on(JobId job);
  void suspend(JobId job, Duration restart);  // keeps all compute; the pause ends with suspended()
  void suspended(JobId job);
  // An independent pod, which is Running, begins its work.
  void begin(PodId pod);

  // book() books the compute up to now. keep() also saves all compute. lose() also undoes the
  // compute that is not saved, and returns the undone GPU time.
  void book(JobId job) { book(ranks(job)); }
  void keep(JobId job) { keep(ranks(job)); }
  void keep(PodId pod) { keep(ranks(pod)); }
  int128_t lose(JobId job) { return lose(ranks(job)); }
  int128_t lose(PodId pod) { return lose(ranks(pod)); }
  // Discards the checkpoint on local disks, if there is one. Call when a node of the gang failed or
  // the gang has left a node. Returns the undone GPU time.
  int128_t lose_local(JobId job);
  void node_failed(NodeId node);
  void stop(JobId job);  // cancels the run's next event and its checkpoints
  // Call when the job or the simulation is over. Compute that is saved on local disks is then
  // reported as kept.
  void end_of(JobId job);

  RunTerms terms(JobId job) const;
  RunTerms terms(PodId pod) const;
  RunNow now(JobId job) const;
  // How much compute each GPU would lose if the gang, or the independent pod, stopped now.
  Duration unsaved(JobId job) const;
  Duration unsaved(PodId pod) const;
  bool is_paused(JobId job) const;
  // The share of the run's time that is spent computing, in millionths, at the run's present pace.
  // 0 during a pause.
  int32_t computing(JobId job) const;
  Duration next_save(JobId job) const;

  Signal<JobId> loaded;  // the job's checkpoint is loaded
  Signal<JobId, const RunStop&> stopped;
  Signal<PodId, const RunStop&> pod_stopped;

 private:
  struct Ranks {  // ranks that compute together
    JobId job;
    PodId pod;  // valid only for an independent pod
    Run& run;
    int64_t gpu_milli = 0, serving_gpu_milli = 0;
  };
  Ranks ranks(JobId job);
  Ranks ranks(PodId pod);
  void read(JobId job);
  void take_terms(JobId job, const GangStart& start);
  Duration work_of_members(JobId job) const;
  void compute(JobId job);
  void step_done(JobId job);
  Duration time_to_redo(const Run& run, const RunTerms& terms) const;

  // Defined in training_books.cpp.
  void account(const Ranks& ranks, const std::function<RunSpans(RunProgress&)>& change);
  RunSpans pass(const Ranks& ranks, RunProgress& progress);
  void book(const Ranks& ranks);
  void keep(const Ranks& ranks);
  int128_t lose(const Ranks& ranks);
  void settle(const WorkSettled& settled);

  // Defined in training_saves.cpp: checkpoints that are simulated by events.
  bool saves_by_events(JobId job) const;
  bool saves_locally(JobId job) const;
  void go_on(JobId job);
  void checkpoint_due(JobId job);
  void checkpoint_copied(JobId job);
  void checkpoint_written(JobId job);
  void drop_checkpoint(JobId job);
  void find_local(JobId job);

  Sim sim_;
  JobTable& jobs_;
  Overruns overruns_;
  JobAccounts& accounts_;
  JobPhases& phases_;
  RecoveryLog& recoveries_;
  JobNews& news_;
  PlannedEnds ends_;
  PaceModel* pace_model_ = nullptr;
  std::optional<StoredCheckpoints> checkpoints_;
  IdVector<NodeId, Time> disks_lost_;  // when each node failed last; empty without storage
  IdVector<JobId, JobRun> jobs_run_;
  IdVector<PodId, Run> pods_run_;
};

}  // namespace orrery
