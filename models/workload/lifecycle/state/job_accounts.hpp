// models/workload/lifecycle/state/job_accounts.hpp -- GPU time by use, and rows of jobs and pods.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "models/workload/job/job_news.hpp"
#include "models/workload/job/job_rows.hpp"
#include "models/workload/job/job_table.hpp"
#include "models/workload/job/pod_row.hpp"
#include "models/workload/job/recovery_row.hpp"
#include "models/workload/lifecycle/state/gpu_time.hpp"
#include "sim/record/channel.hpp"
#include "sim/runtime/sim.hpp"

namespace orrery {

struct JobAccount {
  GpuTime gpu_time;
  // Milli-GPUs of the bound pods, or the milli-GPUs that a counted job (Job::is_counted) holds.
  int64_t bound_gpu_milli = 0;
  int32_t restarts = 0, preemptions = 0, evictions = 0, membership_changes = 0;
  int32_t members = 0;  // pods with which its gangs last started
  std::optional<Time> first_created, first_bound, first_running;
  // When the bound pods of the job begin to load their checkpoint; max: unknown.
  Time loads_from = Time::max();
  std::optional<Time> ended;  // its pods may still run: see CleanUp
  EndCause cause = EndCause::None;
  int32_t exit_code = kNoExitCode;
};

struct JobCounters {
  uint64_t submitted = 0, completed = 0, failed = 0, cancelled = 0;  // jobs
  uint64_t pods_created = 0, pods_lost = 0;                          // lost: the node failed
  uint64_t pods_preempted = 0, pods_failed = 0;                      // failed: ended by themselves
  uint64_t pods_evicted = 0;                                         // evicted by controllers
  int128_t gpu_lost_preempted = 0, gpu_lost_evicted = 0;             // parts of GpuTime::lost
  uint64_t restarts = 0, membership_changes = 0;
};

// Totals of the jobs of one priority.
struct PriorityAccount {
  uint64_t jobs = 0, jobs_preempted = 0;  // jobs with a row in /jobs
  // Pods of these jobs that were preempted, and pods that were preempted for these jobs.
  uint64_t pods_preempted = 0, pods_preempted_by = 0;
  int128_t gpu_lost_preempted = 0;  // GPU time that preempted pods of these jobs lost
  GpuTime gpu_time;                 // GPU time of the jobs with a row
};

// All GPU time of a pod, from its reservation or binding until the pod leaves, is booked
// once: here while the pod waits, starts or hangs, and by TrainingRuns while the pod computes.
class JobAccounts {
 public:
  JobAccounts(Sim sim, const JobTable& jobs, bool records_pods);

  void admitted(JobId job);
  JobAccount& of(JobId job) { return accounts_[job]; }
  const JobAccount& of(JobId job) const { return accounts_[job]; }
  JobCounters& counters() { return counters_; }
  const JobCounters& counters() const { return counters_; }
  int64_t gpu_milli(PodId pod) const { return jobs_.request(pod).resources[Resource::Gpu]; }

  // reserved(): a node is reserved for a Pending pod. unreserved(): the reservation is undone. For
  // a bound pod that has left, unreserved() has no effect.
  void reserved(PodId pod);
  void unreserved(PodId pod);
  void bound(PodId pod);
  void leaves(PodId pod);  // a bound pod leaves, and holds no GPUs afterwards
  // Books the pod's GPU time since the last call, except time in runs, which TrainingRuns books.
  void book_held(PodId pod, Time now);
  // Sets the time at which an independent pod begins to load its checkpoint; Time::max(): unknown.
  void loads_from(PodId pod, Time when) { pods_[pod].loads_from = when; }

  // A pod of `job` was preempted for a job of priority `by_priority`, and `job` lost the GPU time
  // `lost`.
  void preempted(JobId job, int32_t by_priority, int128_t lost);
  void evicted(JobId job, int128_t lost);

  RecoveryRow recovery_row(JobId job, NodeId node, int128_t lost, int64_t gpu_milli) const;
  void write_pod_row(PodId pod, PodEnd why, const Ending& ending, Time end);
  void write_job_row(JobId job, Time end);               // the job's phase is the outcome
  const GpuTime& gpu_time() const { return gpu_time_; }  // GPU time of the jobs with a row in /jobs
  // By priority: totals of jobs, of preemptions, and of GPU time.
  const std::map<int32_t, PriorityAccount>& priorities() const { return priorities_; }

 private:
  struct PodAccount {
    Time held_from;  // the pod's GPU time is booked up to here
    Time loads_from = Time::max();
    bool is_reserved = false;  // Pending, with a reserved node
  };
  Engine& engine_;
  const JobTable& jobs_;
  IdVector<JobId, JobAccount> accounts_;
  IdVector<PodId, PodAccount> pods_;
  JobCounters counters_;
  GpuTime gpu_time_;
  std::map<int32_t, PriorityAccount> priorities_;
  Channel<JobRow> job_rows_;
  std::optional<Channel<PodRow>> pod_rows_;
};

}  // namespace orrery
