// models/workload/lifecycle/rendezvous.hpp -- gangs that may run with fewer than all of their
// members.
//
// They gather as torchrun's rendezvous does. The min_available-th member that is up makes a last
// call, and with its end all that are up then start; so do all at once when the last of them comes.
// Roles with a minimum must have that many members up as well.
// A later member holds its GPUs and computes nothing. The agents of the others notice it within the
// monitor interval, and all gather anew; without such an interval none does.
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
  void await_up(PodId pod);  // Pod::started is known; its containers run then
  void leaves(PodId pod);    // call() follows
  void begin(JobId job);     // its members gather, from now on
  void call(JobId job);      // a member came or went
  bool is_gathering(JobId job) const { return jobs_state_[job].is_gathering; }
  bool is_up(PodId pod) const { return is_up_[pod] != 0; }  // its containers run
  void stop(JobId job);                                     // it does not gather any more

  Signal<JobId> gathered;  // those that take part are marked so in the table
  Signal<JobId> lost;      // too few are bound: it waits for nodes again
  Signal<PodId> noticed;   // the others see that it waits

 private:
  struct State {
    EventId last_call;
    std::optional<Time> called;  // when enough were up
    bool is_gathering = false;
  };
  void is_up_now(PodId pod);
  bool are_enough_up(GangId gang) const;
  void begin_with_those_up(JobId job);

  Engine& engine_;
  JobTable& jobs_;
  JobControllerParams params_;
  IdVector<JobId, State> jobs_state_;
  struct Members {            // of a gang, those that take part
    int32_t all = 0, up = 0;  // up: with containers
    int32_t needed = 0;       // to start
  };
  IdVector<GangId, Members> members_;
  IdVector<RoleId, int32_t> up_in_role_;
  IdVector<PodId, uint8_t> is_up_;
  Channel<GangStartRow> rows_;
};

}  // namespace orrery
