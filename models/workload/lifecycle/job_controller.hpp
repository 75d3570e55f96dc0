// models/workload/lifecycle/job_controller.hpp -- leads every job from its arrival to its end.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "models/hardware/cluster_state.hpp"
#include "models/workload/job/job_news.hpp"
#include "models/workload/job/job_sources.hpp"
#include "models/workload/job/job_table.hpp"
#include "models/workload/job/pod_api.hpp"
#include "models/workload/lifecycle/gang_start_row.hpp"
#include "models/workload/lifecycle/job_controller_params.hpp"
#include "models/workload/lifecycle/job_state.hpp"
#include "models/workload/lifecycle/pace_model.hpp"
#include "models/workload/lifecycle/pod_creation_queue.hpp"
#include "models/workload/lifecycle/pods_on_nodes.hpp"
#include "models/workload/lifecycle/recovery_log.hpp"
#include "models/workload/lifecycle/stored_checkpoints.hpp"
#include "models/workload/training/training_progress.hpp"
#include "sim/record/channel.hpp"
#include "sim/runtime/sim.hpp"

namespace orrery {

// Creates pods, starts gangs once enough members are bound, lets them compute, stops them when a
// member dies and brings them back from their last checkpoint. Observers of its signals must not
// call back into it, save pod_bound() from pods_created.
class JobController : public JobNews {
 public:
  JobController(Sim sim, ClusterState& cluster, JobTable& jobs, const JobControllerParams& params,
                Arrivals arrivals = Arrivals::CreatePods, Storage* storage = nullptr);
  JobController(const JobController&) = delete;
  JobController& operator=(const JobController&) = delete;

  // Before start(). Pods are created through it, and start as late as it says; else at once.
  void use(PodApi& api) { api_ = &api; }
  // Before start(). Gangs with a step go as it says; without it, and for other jobs, work and
  // checkpoints are those of Job.
  void use(PaceModel& model);
  // Before start(). Jobs of all sources are merged by submit time, then by order of the sources.
  void add_source(std::unique_ptr<JobSource> source) { sources_.add(std::move(source)); }
  void start();
  void finish(Time end);  // writes the rows of jobs and recoveries that the end of the run cuts off

  // The scheduler keeps a node for a Pending pod, or gave it back without binding. Only accounts.
  void pod_reserved(PodId pod);
  void pod_unreserved(PodId pod);
  // The scheduler bound the pod: node and grant are in the JobTable and taken in ClusterState.
  void pod_bound(PodId pod);
  // The node went down, and ClusterState knows: bound pods there die. Pending ones are not ours.
  void node_failed(NodeId node);
  // Before start(). Somebody watches nodes, and says when their dead pods are known to be gone.
  void expect_news_of_nodes() {
    hears_of_nodes_ = true;
    lost_on_.resize(cluster_.nodes());
  }
  // The scheduler deletes it for one of higher priority: its containers are told to end. A pod that
  // is lost so is no failure.
  void preempt(PodId pod);
  void pods_gone(NodeId node, Time lost_by);  // those that it lost until then
  // A process of a pod dies while its node is up, with the GPUs it used. The other ranks of a
  // gang that runs wait for it until hang_timeout. False: the pod is not of such a gang.
  bool rank_died(PodId pod, int64_t gpu_milli);
  // All processes of a gang that runs exit with an error, as when NCCL gives up; that is detected
  // as a dead node is. False: it is no such gang.
  bool abort(JobId job);

  // What a job queue decides. Of a held job that arrived, or was suspended.
  void release(JobId job);                      // its pods are created
  void run_counted(JobId job, Pace pace = {});  // a counted job has what it asked for
  void set_pace(JobId job, Pace pace);  // of a gang or a counted job; its checkpoint cycle goes on
  Duration done(JobId job) const;       // of the work of a gang that runs, up to now
  Duration work(JobId job) const { return states_[job].work; }  // on the GPUs that it has
  bool is_paused(JobId job) const;  // for a checkpoint that is an event, or to be suspended
  RunNow run_now(JobId job) const;
  // Stops a gang or a counted job that runs: it writes a checkpoint for so long, keeps all it
  // computed, gives everything back and is Pending. False: it does not run, or has no such form.
  bool suspend(JobId job, Duration write, Duration restart);

  // Of a service: it shall have so many pods from now on.
  void scale(JobId service, int32_t replicas);
  // Of a service: the part of their time that the replicas that run are busy, from now on.
  void set_use(JobId service, double use);
  int32_t replicas(JobId service) const { return states_[service].replicas; }

  const JobSources& sources() const { return sources_; }  // an error of one stopped the engine
  bool all_done() const { return jobs_.live_jobs() == 0 && sources_.is_empty(); }
  const JobCounters& counters() const { return counters_; }
  int64_t pods_terminating() const { return terminating_; }  // preempted, and not gone
  // What GPUs were held for by all jobs with a row in /jobs: after finish(), by all.
  const GpuTime& gpu_time() const { return gpu_time_; }
  JobUsage usage(JobId job) const;
  bool goes_on(JobId job) const;       // of itself: it neither waits for nodes nor hangs for ever
  int32_t computing(JobId job) const;  // millionths of the time of a run, at its present pace

 private:
  // job_controller.cpp: arrival, creation of pods, end
  void schedule_arrival();
  void admit_arrivals();
  void admit(const JobRequest& request);
  void want_pods(JobId id);  // all Absent ones
  void want_pod(PodId id);
  void queue_creation(JobId id);
  struct Creator {  // which worker of which controller
    uint16_t controller = 0, worker = 0;
  };
  int32_t creatable(JobId id);
  void plan_round();
  void create_round();
  int32_t create_batch(JobId id, int32_t count, Creator creator);
  void create(PodId id, Creator creator);
  void creation_told(PodId id, uint64_t generation, Creator creator, PodApi::Creation news);
  void started_known(PodId id);
  void appear(PodId id);
  void forget_creation(PodId id);
  void set_phase(JobId id, JobPhase phase);
  void end_job(JobId id, JobPhase phase);

  // pod_lifecycle.cpp: what any pod does, and what independent pods do
  void remove_pod(PodId id, PodEnd why);
  void remove_pods(JobId id, PodEnd why);
  void want_later(Duration delay, const LostPod& lost);
  Duration restart_delay(JobId id) const;
  void want_lost(const LostPod& lost);
  Duration exit_detection() const { return params_.failure_detection.value_or(kExplicitFailure); }
  Duration node_detection() const {  // max: only by news
    return params_.failure_detection.value_or(hears_of_nodes_ ? Duration::max() : kExplicitFailure);
  }
  Duration gang_patience() const;
  uint32_t number_of_start(PodId id);
  Duration start_latency(PodId id);
  void begin_start(PodId id);
  void start_known(PodId id, uint64_t generation, Duration left);
  void alone_bound(PodId id);
  void alone_starts(PodId id);
  void alone_runs(PodId id);
  void alone_goes_on(PodId id);
  void alone_completes(PodId id, bool in_time);
  void alone_struck(PodId id, NodeId node);
  void pods_job_struck(JobId id);
  void refresh_phase(JobId id);

  // gang_lifecycle.cpp: what the ranks of one communicator do together
  bool has_quorum(const Job& job) const;
  void gang_gathers(JobId id);
  void gang_starts(JobId id);
  void gang_runs(JobId id);
  void take_terms(JobId id, const GangStart& start);
  void compute(JobId id);
  Duration next_save(JobId id) const;
  void step_done(JobId id);
  Duration time_to_redo(JobId id, const Run& run) const;
  void gang_completes(JobId id, bool in_time);
  void gang_stops(JobId id, NodeId node);         // a member is about to die
  void gang_hangs(JobId id, Duration detection);  // max: nobody notices
  void gang_detected(JobId id);
  void free_ranks(JobId id);
  void gang_restarts(JobId id);
  void suspended(JobId id);

  // elastic_lifecycle.cpp: gangs that may run with fewer than all of their members
  bool is_gathering(JobId id) const;
  bool is_needed(PodId id) const;
  void await_up(PodId id);
  void await_notice(PodId id);
  bool is_left_out(PodId id) const;
  void change_membership(JobId id);
  void call_members(JobId id);
  void begin_with_those_up(JobId id);

  // queued_lifecycle.cpp: what a queue decides of jobs without pods
  void hold_counted(JobId id, int64_t gpu_milli);
  void account_counted_start(JobId id, Time now);

  // preempted_lifecycle.cpp: pods that make room for others
  void preempted(PodId id);
  void alone_stops(PodId id, NodeId node);

  // service_lifecycle.cpp: pods whose number changes
  void begin_service(JobId id);
  void end_service(JobId id);
  void retire(JobId id, int32_t count);

  // stored_lifecycle.cpp: checkpoints that are events
  void pause(JobId id);
  void go_on(JobId id);
  void checkpoint_due(JobId id);
  void checkpoint_copied(JobId id);
  void checkpoint_written(JobId id);
  void drop_checkpoint(JobId id);
  int128_t lose_local(JobId id);
  void find_local(JobId id);

  // job_accounting.cpp: what GPUs were held for, and the rows
  struct Ranks {  // that compute together
    JobId job;
    PodId pod;  // of one that is independent
    Run& run;
    int64_t gpu_milli = 0, serving_gpu_milli = 0;
  };
  Ranks gang(JobId id);  // or a counted job, or a service
  Ranks alone(PodId id);
  void account_held(PodId id, Time now);
  bool saves_by_events(JobId id) const;
  bool saves_locally(JobId id) const;
  RunTerms terms(JobId id) const;
  void account(const Ranks& ranks, const std::function<RunSpans(RunProgress&)>& change);
  RunSpans pass(JobId id, RunProgress& progress);
  void account_run(const Ranks& ranks);
  void keep_unsaved(const Ranks& ranks);
  int128_t lose_unsaved(const Ranks& ranks);
  void settle(const WorkSettled& settled);
  void settle_local(JobId id);
  RecoveryRow recovery_row(JobId id, NodeId node, int128_t lost, int64_t gpu_milli) const;
  void write_job_row(JobId id, JobOutcome outcome, Time end);
  void write_pod_row(PodId id, PodEnd why, Time end);
  int64_t gpu_milli(PodId id) const;

  Sim sim_;
  ClusterState& cluster_;
  JobTable& jobs_;
  JobControllerParams params_;
  PodApi* api_ = nullptr;
  PaceModel* pace_model_ = nullptr;
  Arrivals arrivals_;
  JobCounters counters_;
  int64_t terminating_ = 0;
  JobSources sources_;
  IdVector<JobId, JobState> states_;
  IdVector<PodId, PodRun> runs_;
  PodsOnNodes on_nodes_;
  std::vector<PodCreationQueue> creation_;             // by controller
  bool is_creating_ = false;                           // a round is scheduled
  std::map<Time, std::vector<LostPod>> wanted_later_;  // lost pods, to be created again
  bool hears_of_nodes_ = false;
  IdVector<NodeId, std::vector<LostPod>> lost_on_;
  std::optional<StoredCheckpoints> checkpoints_;
  IdVector<NodeId, Time> disks_lost_;  // when the node last failed; with stores only
  RecoveryLog recoveries_;
  GpuTime gpu_time_;  // of the jobs whose rows are written
  Channel<JobRow> job_rows_;
  Channel<GangStartRow> gang_starts_;
  std::optional<Channel<PodRow>> pod_rows_;
  std::vector<PodId> batch_, victims_;  // scratch
  std::vector<JobId> struck_;           // scratch
};

}  // namespace orrery
