#include "models/workload/sources/training_params.hpp"

#include <memory>

namespace orrery {

void TrainingParams::apply(JobSpec& job) const {
  job.checkpoint_interval = checkpoint_interval;
  job.checkpoint_write = checkpoint_write;
  job.restore = restore;
  job.init = init;
  job.init_per_gpu = init_per_gpu;
  const bool is_gang = job.kind == JobKind::MpiGang;
  job.communicator = nullptr;
  job.checkpoint = nullptr;
  job.step = nullptr;
  job.dataset = nullptr;
  if (is_gang && checkpoint && checkpoint_interval > Duration{}) {
    job.checkpoint = std::make_shared<CheckpointParams>(*checkpoint);
  }
  if (is_gang && dataset) job.dataset = std::make_shared<DatasetParams>(*dataset);
  if (is_gang && step) job.step = std::make_shared<StepParams>(*step);
  if (communicator) job.communicator = std::make_shared<CommunicatorParams>(*communicator);
  job.restart_scope = restart_scope;
  job.restarts_max = restarts_max;
  job.schedule_timeout = schedule_timeout;
  for (GangSpec& gang : job.gangs) {
    for (RoleSpec& role : gang.roles) {
      role.endings = endings;
      role.restart = restart;
      role.backoff_limit = backoff_limit;
    }
  }
}

}  // namespace orrery
