// models/workload/lifecycle/runs/pace_model.hpp -- how fast gangs go, as their controller asks for
// it.
#pragma once

#include <optional>
#include <vector>

#include "models/workload/training/pace.hpp"
#include "sim/core/id.hpp"
#include "sim/core/time.hpp"
#include "sim/engine/signal.hpp"

namespace orrery {

// What the nodes of a gang make of its job.
struct GangStart {
  Duration work;                 // compute time, which depends on the GPUs
  Duration checkpoint_interval;  // in whole steps
  std::vector<PodId> servers{};  // dedicated parameter servers: their GPUs wait for the others
  Pace pace{};                   // until pace_changed
  bool is_traced = false;        // its steps are played one by one: see step_done
};

class PaceModel {
 public:
  PaceModel() = default;
  PaceModel(const PaceModel&) = delete;
  PaceModel& operator=(const PaceModel&) = delete;
  virtual ~PaceModel() = default;

  // Called when all pods of a gang with a step run. Empty if no pod has a GPU: then the job's own
  // work and pace hold.
  virtual std::optional<GangStart> begins(JobId job) = 0;
  virtual void ends(JobId job) = 0;  // it does not run any more

  Signal<JobId, Pace> pace_changed;
  // A traced gang finished a step, whose whole work is done. Such a gang completes, or pauses for a
  // checkpoint, between two steps.
  Signal<JobId> step_done;
};

}  // namespace orrery
