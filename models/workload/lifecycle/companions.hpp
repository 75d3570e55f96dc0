// models/workload/lifecycle/companions.hpp -- pods of a gang that are no ranks of its communicator:
// launchers, evaluators, parameter servers.
#pragma once

#include "models/workload/lifecycle/job_over.hpp"
#include "models/workload/lifecycle/pods/pod_lives.hpp"
#include "models/workload/lifecycle/pods/replacements.hpp"
#include "models/workload/lifecycle/role_ends.hpp"
#include "models/workload/lifecycle/runs/planned_ends.hpp"
#include "sim/runtime/sim.hpp"

namespace orrery {

// Companions run beside the ranks. A companion is recreated alone if its node fails, or if it exits
// and its role's restart policy allows a restart; the ranks go on meanwhile. The GPU time of
// companions is booked as held, or as hung while the gang hangs, but never as compute.
class Companions {
 public:
  Companions(Sim sim, JobTable& jobs, JobAccounts& accounts, PodLives& pods,
             Replacements& replacements);

  void admitted(JobId job);
  // Cancels the pod's planned exit. Call when the pod keeps running after its job ended.
  void leave(PodId pod) { engine_.cancel(states_[pod].exits); }

  Signal<JobId, const JobOver&> over;  // emitted when the failure of a companion ends its job

 private:
  struct State {
    EventId exits;
    uint32_t starts = 0;
  };
  bool is_one(PodId pod) const;
  void start_known(PodId pod);
  void exits(PodId pod, const Ending& ending);
  void retire(PodId pod);

  Engine& engine_;
  JobTable& jobs_;
  JobAccounts& accounts_;
  PodLives& pods_;
  Replacements& replacements_;
  PlannedEnds ends_;
  IdVector<PodId, State> states_;
  IdVector<RoleId, RoleEnds> role_ends_;
};

}  // namespace orrery
