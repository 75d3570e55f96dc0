// models/workload/lifecycle/runs/pace_model.hpp -- JobController's interface to a model of the pace
// of gangs.
#pragma once

#include <optional>
#include <vector>

#include "models/workload/training/pace.hpp"
#include "sim/core/id.hpp"
#include "sim/core/time.hpp"
#include "sim/engine/signal.hpp"

namespace orrery {

// The properties of a gang's run that depend on the gang's nodes.
struct GangStart {
  Duration work;                 // compute time on the gang's GPUs
  Duration checkpoint_interval;  // compute time between checkpoints, in whole steps
  std::vector<PodId> servers{};  // dedicated parameter servers: their GPUs wait for the workers
  Pace pace{};                   // until the next pace_changed
  bool is_traced = false;        // its steps are simulated one by one: see step_done
};

class PaceModel {
 public:
  PaceModel() = default;
  PaceModel(const PaceModel&) = delete;
  PaceModel& operator=(const PaceModel&) = delete;
  virtual ~PaceModel() = default;

  // Called when a gang begins to compute and its job describes a training step. Returns nothing if
  // no pod of the gang has a GPU. The work and pace that the job itself gives then apply.
  virtual std::optional<GangStart> begins(JobId job) = 0;
  virtual void ends(JobId job) = 0;  // the gang no longer runs

  Signal<JobId, Pace> pace_changed;
  // A traced gang finished a step: its run has done all work of the step. A traced gang can
  // complete, or pause for a checkpoint, only at the end of a step.
  Signal<JobId> step_done;
};

}  // namespace orrery
