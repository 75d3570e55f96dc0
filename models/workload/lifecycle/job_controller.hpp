// models/workload/lifecycle/job_controller.hpp -- the life of every job from its arrival to its
// end.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "models/hardware/cluster_state.hpp"
#include "models/hardware/node_news.hpp"
#include "models/workload/job/job_news.hpp"
#include "models/workload/job/job_sources.hpp"
#include "models/workload/job/job_table.hpp"
#include "models/workload/job/pod_api.hpp"
#include "models/workload/job/pod_news.hpp"
#include "models/workload/lifecycle/cancellations.hpp"
#include "models/workload/lifecycle/companions.hpp"
#include "models/workload/lifecycle/counted_jobs.hpp"
#include "models/workload/lifecycle/gang_lives.hpp"
#include "models/workload/lifecycle/independent_pods.hpp"
#include "models/workload/lifecycle/pods/pod_lives.hpp"
#include "models/workload/lifecycle/pods/replacements.hpp"
#include "models/workload/lifecycle/runs/training_runs.hpp"
#include "models/workload/lifecycle/service_lives.hpp"
#include "models/workload/lifecycle/state/job_accounts.hpp"
#include "models/workload/lifecycle/state/job_controller_params.hpp"
#include "models/workload/lifecycle/state/job_phases.hpp"
#include "models/workload/lifecycle/state/recovery_log.hpp"
#include "sim/runtime/sim.hpp"

namespace orrery {

// Admits jobs, passes events of pods to the classes that manage pods, and ends jobs. Observers of
// its signals must not call its methods, except pod_bound() from an observer of pods_created.
class JobController : public JobNews, public PodNews {
 public:
  JobController(Sim sim, ClusterState& cluster, JobTable& jobs, const JobControllerParams& params,
                Arrivals arrivals = Arrivals::CreatePods, Storage* storage = nullptr);
  JobController(const JobController&) = delete;
  JobController& operator=(const JobController&) = delete;

  // Call before start(). Pods will be created and started through the API, with its delays. The API
  // emits `dead_pods_gone` when pods of dead nodes are deleted.
  void use(PodApi& api);
  const PodLives::Unobserved& unobserved_ends() const { return pods_.unobserved(); }
  // Call before start(). The model sets pace, work and checkpoint interval of each gang that has
  // GPUs and a JobSpec::step. Other jobs have the work and checkpoint interval of their JobSpec.
  void use(PaceModel& model) { runs_.use(model); }
  PodStarts& pod_starts() { return pods_.starts(); }  // set hooks before start()
  // Call before start(). Jobs of all sources are merged by submit time, then by order of sources.
  void add_source(std::unique_ptr<JobSource> source) { sources_.add(std::move(source)); }
  void start() { schedule_arrival(); }
  void finish(Time end);  // writes the open rows of jobs, pods and recoveries

  void connect(NodeNews& nodes);  // bound pods of a node that goes down die
  // Call after binding, with Pod::node and Pod::grant set and resources taken in ClusterState.
  void pod_bound(PodId pod);
  // The scheduler preempts the pod (SIGTERM) for a job of priority `by`. This is no failure.
  void preempt(PodId pod, int32_t by) { terminate(pod, {PodEnd::Preempted, by}); }
  // A controller deletes the pod or evicts it through the Eviction API. Neither is a failure.
  void evict(PodId pod) { terminate(pod, {PodEnd::Evicted}); }
  // How much compute each GPU would lose if the pod's gang, or the independent pod, stopped now.
  Duration unsaved(PodId pod) const;
  // The rank's process dies while its node is up. `gpu_milli` milli-GPUs of the pod become idle.
  // The other ranks wait until hang_timeout. Returns false if the pod is no rank of a running gang.
  bool rank_died(PodId pod, int64_t gpu_milli);
  // All processes of a running gang exit with an error, as when NCCL gives up. The exit is detected
  // like the exit of a single rank. Returns false if the job has no running gang.
  bool abort(JobId job);

  // For job queues: releases a job that was held on arrival (Arrivals::Hold) or suspended. The
  // job's pods are created and may use only `nodes`; nullopt: any node.
  void release(JobId job, std::optional<NodeSet> nodes);
  // Cancels the job on behalf of its user. Returns false if the job has started.
  bool cancel(JobId job) { return cancellations_.cancel(job); }
  void reject(JobId job);  // fails a job without pods that can never start
  void run_counted(JobId job, Duration delay = {}, Pace pace = {}) {
    counted_.run(job, delay, pace);
  }
  void set_pace(JobId job, Pace pace);  // only for gangs and counted jobs (Job::is_counted)
  // Suspends a running gang or counted job after a checkpoint that takes `write`. Loading this
  // checkpoint later takes at least `restart`. Returns false for any other job.
  bool suspend(JobId job, Duration write, Duration restart);
  void discard_unsaved(JobId job);  // a running gang loses its compute since its last checkpoint
  void resume(JobId job);  // recreates the pods of a suspended job that no job queue releases
  // Whether the job ever had enough bound pods to start, or run_counted() was called.
  bool has_started(JobId job) const { return accounts_.of(job).first_bound.has_value(); }
  Duration done(JobId job) const { return runs_.now(job).progress.done(); }
  Duration work(JobId job) const { return runs_.of(job).work; }  // compute time on its present GPUs
  // Whether the job pauses for a checkpoint, or is being suspended.
  bool is_paused(JobId job) const { return runs_.is_paused(job); }
  RunNow run_now(JobId job) const { return runs_.now(job); }

  void scale(JobId service, int32_t replicas) { services_.scale(service, replicas); }
  void set_use(JobId service, double use) { services_.set_use(service, use); }
  int32_t replicas(JobId service) const { return services_.replicas(service); }

  const JobSources& sources() const { return sources_; }
  size_t jobs_unfinished() const { return jobs_.live_jobs() - left_behind_; }
  bool all_done() const { return jobs_unfinished() == 0 && sources_.is_empty(); }
  const JobCounters& counters() const { return accounts_.counters(); }
  int64_t pods_terminating() const { return terminating_; }  // after preemption or eviction
  // GPU time of jobs with a row in /jobs; after finish(), of all jobs.
  const GpuTime& gpu_time() const { return accounts_.gpu_time(); }
  const std::map<int32_t, PriorityAccount>& priorities() const { return accounts_.priorities(); }
  JobUsage usage(JobId job) const;
  // True for services, jobs to be cancelled, and jobs neither pending nor over nor hung for ever.
  bool goes_on(JobId job) const;
  int32_t computing(JobId job) const { return runs_.computing(job); }

 private:
  void schedule_arrival();
  void admit_arrivals();
  void admit(const JobSpec& spec);
  void end_job(JobId job, const JobOver& how);
  void leave(PodId pod, bool is_completed);
  void lose_left(PodId pod, PodEnd why);
  void remove_job(JobId job);
  void close_recoveries(JobId job, Time end);
  void terminate(PodId pod, const Disruption& why);
  void terminated(PodId pod, const Disruption& why);
  void node_failed(NodeId node);
  void dead_pods_deleted(std::span<const DeadPod> pods);
  bool is_gang(JobId job) const { return jobs_.job(job).gangs > 0; }

  Sim sim_;
  JobTable& jobs_;
  Duration termination_;
  Arrivals arrivals_;
  JobSources sources_;
  JobPhases phases_;
  JobAccounts accounts_;
  RecoveryLog recoveries_;
  PodLives pods_;
  TrainingRuns runs_;
  Replacements replacements_;
  GangLives gangs_;
  Companions companions_;
  IndependentPods independent_;
  ServiceLives services_;
  CountedJobs counted_;
  Cancellations cancellations_;
  int64_t terminating_ = 0;
  size_t left_behind_ = 0;  // jobs that are over, but have pods that still run
};

}  // namespace orrery
