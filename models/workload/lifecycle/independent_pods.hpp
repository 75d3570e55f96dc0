// models/workload/lifecycle/independent_pods.hpp -- pods that compute on their own, and how their
// ends decide the end of their job.
#pragma once

#include <cstdint>

#include "models/workload/job/pod_news.hpp"
#include "models/workload/lifecycle/job_over.hpp"
#include "models/workload/lifecycle/pods/pod_lives.hpp"
#include "models/workload/lifecycle/pods/replacements.hpp"
#include "models/workload/lifecycle/role_ends.hpp"
#include "models/workload/lifecycle/runs/training_runs.hpp"

namespace orrery {

// The lives of independent pods: pods of services, and pods of jobs with `kind: pods`.
class IndependentPods {
 public:
  IndependentPods(Engine& engine, JobTable& jobs, JobAccounts& accounts, JobPhases& phases,
                  PodLives& pods, TrainingRuns& runs, RecoveryLog& recoveries,
                  Replacements& replacements, PodNews& news);

  void admitted(JobId job);
  void bound(PodId pod);
  void struck(PodId pod, NodeId node);  // its node failed; called before the pod is removed
  bool is_failing(JobId job) const { return jobs_state_[job].is_failing; }
  void job_struck(JobId job);  // call after struck(), once the job's pods on the node are removed
  void stops(PodId pod);       // the pod is preempted or evicted; call before it is removed
  void refresh_phase(JobId job);      // sets the job's phase to that of its most advanced pod
  void finish(JobId job);             // books and saves the compute of its running pods
  void leave(PodId pod, bool keeps);  // the pod's run ends; `keeps`: its compute is saved
  void end(JobId job);                // call when the job is over

  Signal<JobId, const JobOver&> over;

 private:
  struct State {
    EventId gives_up;
    // Restarts are used up; the job fails once the failure of the node is detected.
    bool is_failing = false;
  };
  void start_known(PodId pod);
  void runs(PodId pod);
  void ended(PodId pod, const RunStop& end);
  void succeeds(PodId pod);
  void fails(PodId pod, const Ending& ending);
  bool has_succeeded(JobId job) const;
  void leaves(PodId pod, PodEnd why);
  void recover_from(PodId pod, NodeId node);
  bool is_alone(PodId pod) const { return !jobs_.pod(pod).gang.is_valid(); }

  Engine& engine_;
  JobTable& jobs_;
  JobAccounts& accounts_;
  JobPhases& phases_;
  PodLives& pods_;
  TrainingRuns& runs_;
  RecoveryLog& recoveries_;
  Replacements& replacements_;
  PodNews& news_;
  IdVector<JobId, State> jobs_state_;
  IdVector<PodId, EventId> starting_;
  IdVector<RoleId, RoleEnds> role_ends_;
};

}  // namespace orrery
