// models/workload/lifecycle/rendezvous.hpp -- gangs that may run without some of their members.
//
// Members gather as in torchrun's rendezvous. A last call begins once min_available members are up
// and each role has its own minimum of members up. When the call ends, all members that are up
// start. If all members are up, they start at once. A member that comes up later holds its GPUs
// and does not compute. The agents of the other members notice the late member within the monitor
// interval and restart the rendezvous; without an interval, late members are never noticed.
//
// Example: a gang of 4 to 8 members, last call 30 s. The 4th is up at 100 s, the 5th at 110 s: five
// start at 130 s. The 6th at 200 s makes all six restart by 200 s + the monitor interval.
#pragma once

#include <cstdint>
#include <optional>

#include "models/workload/job/job_table.hpp"
#include "models/workload/lifecycle/gang_start_row.hpp"
#include "models/workload/lifecycle/state/job_controller_params.hpp"
#include "sim/engine/engine.hpp"
#include "sim/engine/signal.hpp"
#include "sim/record/channel.hpp"
#include "sim/runtime/sim.hpp"

namespace orrery {

class Rendezvous {
 public:
  Rendezvous(Sim sim, JobTable& jobs, const JobControllerParams& params);

  void admitted(JobId job);
  // Pod::started, the time at which the pod's containers begin to run, must be known.
  void await_up(PodId pod);
  void leaves(PodId pod);  // while the gang gathers, the caller must call call() next
  void begin(JobId job);   // the members of the gang gather from now on
  void call(JobId job);    // call when a member joined or left
  bool is_gathering(JobId job) const { return jobs_state_[job].is_gathering; }
  bool is_up(PodId pod) const { return is_up_[pod] != 0; }  // whether its containers run
  void stop(JobId job);                                     // the gang no longer gathers

  Signal<JobId> gathered;  // the gang starts; Pod::takes_part is set for its members
  Signal<JobId> lost;      // too few members have nodes, so the gang waits for nodes again
  Signal<PodId> noticed;   // the agents of the other members have noticed a late member

 private:
  struct State {
    EventId last_call;
    std::optional<Time> called;  // when enough members were up
    bool is_gathering = false;
  };
  void is_up_now(PodId pod);
  bool are_enough_up(GangId gang) const;
  void begin_with_those_up(JobId job);

  Engine& engine_;
  JobTable& jobs_;
  JobControllerParams params_;
  IdVector<JobId, State> jobs_state_;
  struct Members {            // numbers of ranks of a gang
    int32_t all = 0, up = 0;  // up: with running containers
    int32_t needed = 0;       // needed to start
  };
  IdVector<GangId, Members> members_;
  IdVector<RoleId, int32_t> up_in_role_;
  IdVector<PodId, uint8_t> is_up_;
  Channel<GangStartRow> rows_;
};

}  // namespace orrery
