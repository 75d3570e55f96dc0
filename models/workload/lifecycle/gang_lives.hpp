// models/workload/lifecycle/gang_lives.hpp -- the life of the ranks of one communicator.
#pragma once

#include <cstdint>

#include "models/workload/job/job_news.hpp"
#include "models/workload/lifecycle/job_over.hpp"
#include "models/workload/lifecycle/pods/pod_lives.hpp"
#include "models/workload/lifecycle/pods/replacements.hpp"
#include "models/workload/lifecycle/rendezvous.hpp"
#include "models/workload/lifecycle/role_ends.hpp"
#include "models/workload/lifecycle/runs/training_runs.hpp"

namespace orrery {

// Ranks gather, wait for one another at a barrier, and compute. When a rank dies, the gang hangs
// until the failure is detected, then restarts from the last checkpoint. Example: the last
// checkpoint is from 90 s, and a rank dies at 100 s. The other ranks time out at 700 s
// (hang_timeout); then the gang restarts and repeats its compute from 90 to 100 s. For pods of the
// gang that are no ranks, see Companions.
class GangLives {
 public:
  GangLives(Sim sim, JobTable& jobs, const JobControllerParams& params, JobAccounts& accounts,
            JobPhases& phases, PodLives& pods, TrainingRuns& runs, RecoveryLog& recoveries,
            Replacements& replacements, JobNews& news);

  void admitted(JobId job);
  void bound(PodId pod);
  bool is_needed(PodId pod) const;     // whether the end of this pod stops a gang that has started
  void stops(JobId job, NodeId node);  // ends the present run; invalid `node`: no node failed
  // The gang hangs. Its failure is detected after `detection`, or never if this is Duration::max().
  void hangs(JobId job, Duration detection);
  void node_lost(JobId job) { hangs(job, replacements_.gang_patience()); }
  void member_lost(PodId pod);   // call after the pod was removed
  void detected_now(JobId job);  // detects the failure of a hung gang at once
  bool rank_died(PodId pod, int64_t gpu_milli);
  bool abort(JobId job);
  bool suspend(JobId job, Duration write, Duration restart);
  void preempted(PodId pod, bool was_needed);  // call after the pod was removed
  void end(JobId job);                         // call when the job is over
  bool hangs_for_ever(JobId job) const;

  Signal<JobId, const JobOver&> over;

 private:
  struct State {
    EventId event;              // ends a suspension, a detection or a restart delay
    int32_t awaited = 0;        // pods of a starting gang whose start is not known yet
    Time barrier;               // latest known start of the members' containers
    Time noticed;               // when the present hang will be detected; max: never
    PodId dead_pod;             // a process of this pod died while its node was up
    bool is_preempted = false;  // the gang hangs because a pod was preempted
    Ending failure;             // cause and exit code of the failure
    PodId failed_pod;           // the pod whose exit is the failure; invalid: another cause
  };
  void gathers(JobId job);
  void awaits_all(JobId job);
  void start_known(PodId pod);
  void starts(JobId job, Time barrier);
  void runs(JobId job);
  void ended(JobId job, const RunStop& end);
  void rank_ended(JobId job, const RunStop& end);
  void detected(JobId job);
  bool may_restart(JobId job);
  void free_ranks(JobId job);
  void restarts(JobId job);
  void suspended(JobId job);
  void change_membership(JobId job);
  void noticed(PodId pod);
  void leaves(PodId pod);
  bool is_member(PodId pod) const { return jobs_.pod(pod).gang.is_valid(); }

  Sim sim_;
  JobTable& jobs_;
  JobAccounts& accounts_;
  JobPhases& phases_;
  PodLives& pods_;
  TrainingRuns& runs_;
  RecoveryLog& recoveries_;
  Replacements& replacements_;
  JobNews& news_;
  Rendezvous rendezvous_;
  IdVector<JobId, State> states_;
  IdVector<RoleId, RoleEnds> role_ends_;
};

}  // namespace orrery
