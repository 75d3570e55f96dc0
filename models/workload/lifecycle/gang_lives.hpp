// models/workload/lifecycle/gang_lives.hpp -- what the ranks of one communicator do together.
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

// They gather, start behind a barrier, compute, stop when one of them dies, hang until somebody
// notices, and come back from the last checkpoint. Pods of roles that do not take part run beside
// them until the job is over, and are replaced one by one.
class GangLives {
 public:
  GangLives(Sim sim, JobTable& jobs, const JobControllerParams& params, JobAccounts& accounts,
            JobPhases& phases, PodLives& pods, TrainingRuns& runs, RecoveryLog& recoveries,
            Replacements& replacements, JobNews& news);

  void admitted(JobId job);
  void bound(PodId pod);
  bool is_needed(PodId pod) const;            // its gang stops with it, if that has started
  void stops(JobId job, NodeId node);         // a member is about to die; no node: none failed
  void hangs(JobId job, Duration detection);  // max: never noticed
  void node_lost(JobId job) { hangs(job, replacements_.gang_patience()); }
  void member_lost(PodId pod);   // it was removed
  void detected_now(JobId job);  // somebody says so
  bool rank_died(PodId pod, int64_t gpu_milli);
  bool abort(JobId job);
  bool suspend(JobId job, Duration write, Duration restart);
  void preempted(PodId pod, bool was_needed);  // it was removed
  void end(JobId job);                         // it is over
  bool hangs_for_ever(JobId job) const;

  Signal<JobId, const JobOver&> over;

 private:
  struct State {
    EventId event;              // it is suspended, found dead, or comes back
    int32_t awaited = 0;        // of a gang that starts: pods whose start is not known
    Time barrier;               // when the others' containers run
    Time noticed;               // when somebody finds out that it hangs; max: never
    PodId dead_pod;             // a process of it died, and its node did not
    bool is_preempted = false;  // it hangs for a pod that made room for another
    Ending failure;             // what brought it down
    PodId failed_pod;           // that ended by itself
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
