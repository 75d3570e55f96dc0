// models/workload/step_tracer.hpp -- plays the steps of gangs one by one.
#pragma once

#include <cstdint>
#include <vector>

#include "models/network/network.hpp"
#include "models/workload/job_controller.hpp"
#include "models/workload/step_activity.hpp"
#include "models/workload/training_step.hpp"
#include "sim/core/id.hpp"
#include "sim/core/time.hpp"
#include "sim/engine/signal.hpp"
#include "sim/runtime/sim.hpp"

namespace orrery {

// A step computes, as slowly as the pipeline and stragglers let it; when all but the overlapped
// part of that is done its exchanges start, first those inside of nodes, then the others as one
// transfer; once both are done, the optimizer runs and data are waited for, and the next step
// begins. Work is done while it computes, and stands still for the rest. While the job pauses, so
// does all of this. The job is complete once its last step is, which is as small as the work that
// is left: computing, bytes and all else are that part of a whole step's.
class StepTracer {
 public:
  enum class Phase : uint8_t { Compute, Overlap, Exchange, Update };

  // `network`: null with level: alpha_beta.
  StepTracer(Sim sim, JobController& controller, Network* network)
      : sim_{sim}, controller_{controller}, network_{network} {}

  void begin(JobId job, const StepPlan& plan, const StepActivity& activity, Duration work);
  void end(JobId job);
  void reroute(JobId job, const StepActivity& activity);
  void set_paused(JobId job, bool is_paused);
  void goal_reached(JobId job);
  bool is_updating(JobId job) const {
    return job.index < steps_.size() && steps_[job.index].phase == Phase::Update;
  }
  // An exchange across nodes is due or under way, whether or not it can move.
  bool is_transferring(JobId job) const;
  Signal<JobId> transfer_due;
  // By transfers of the job, and of those that had its id before; until now.
  Bytes sent(JobId job) const;

 private:
  struct Wait {  // of its own, besides the controller's
    EventId event{};
    Time due{};
    Duration left = Duration::max();  // of one that pauses
  };
  struct Steps {
    Duration all;                            // work of the job
    Duration compute, working, update_time;  // of a step: its work, its length, and the rest
    Duration overlap;                        // of its work
    StepActivity activity;
    Duration begun;   // progress at which the present step began
    double part = 1;  // of a whole step, for the last one: all that it does is less
    Phase phase = Phase::Compute;
    bool is_paused = false;
    bool exchanges = false;  // an exchange is under way
    Wait inside, update;     // its part inside of nodes; and what ends the step
    FlowId flow;
    Bytes sending;  // of the transfer under way, or what was left of it when its way changed
    Bytes whole;    // of all the step on the heaviest link, as it was then
    Bytes sent;     // by those that are over
  };
  void next_step(JobId job);
  void go(JobId job, Phase phase, Duration goal);
  void wait(JobId job, Phase phase);
  void start_exchange(JobId job);
  void leave_nodes(JobId job);
  void start_transfer(JobId job);
  void send(JobId job, double bytes);
  void end_step(JobId job);
  void start(Wait& wait, Duration span, Label label, JobId job, void (StepTracer::*then)(JobId));
  void pause(Wait& wait);
  double rate_max(const Steps& steps) const;
  static Duration part_of(const Steps& steps, Duration whole);
  void exchanged(JobId job);

  Sim sim_;
  JobController& controller_;
  Network* network_;
  std::vector<Steps> steps_;  // by job
};

}  // namespace orrery
