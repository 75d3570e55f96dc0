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
#include "sim/runtime/sim.hpp"

namespace orrery {

// A step computes, as slowly as the pipeline and stragglers let it; when all but the overlapped
// part of that is done its exchanges start, as one transfer; once both are done, the optimizer runs
// and data are waited for, and the next step begins. Work is done while it computes, and stands
// still for the rest.
class StepTracer {
 public:
  enum class Phase : uint8_t { Compute, Overlap, Exchange, Update };

  // `network`: null with level: alpha_beta.
  StepTracer(Sim sim, JobController& controller, Network* network)
      : sim_{sim}, controller_{controller}, network_{network} {}

  void begin(JobId job, const StepPlan& plan, const StepActivity& activity);
  void end(JobId job);
  void reroute(JobId job, const StepActivity& activity);
  void goal_reached(JobId job);
  bool is_updating(JobId job) const {
    return job.index < steps_.size() && steps_[job.index].phase == Phase::Update;
  }
  // By transfers of the job, and of those that had its id before; until now.
  Bytes sent(JobId job) const;

 private:
  struct Steps {
    Duration compute, working, update;  // of a step: its work, how long that takes, and the rest
    Duration overlap;                   // of its work
    StepActivity activity;
    Duration begun;  // progress at which the present step began
    Phase phase = Phase::Compute;
    bool exchanges = false;  // an exchange is under way
    EventId event;           // its end, without a network
    EventId updated;
    FlowId flow;
    Bytes sending;  // of the transfer under way
    Bytes sent;     // by those that are over
  };
  void next_step(JobId job);
  void go(JobId job, Phase phase, Duration goal);
  void wait(JobId job, Phase phase);
  void start_exchange(JobId job);
  void start_transfer(JobId job);
  void exchanged(JobId job);

  Sim sim_;
  JobController& controller_;
  Network* network_;
  std::vector<Steps> steps_;  // by job
};

}  // namespace orrery
