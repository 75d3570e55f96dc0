// models/workload/lifecycle/service_lives.hpp -- the scaling and the end of services.
#pragma once

#include <cstdint>

#include "models/workload/job/job_news.hpp"
#include "models/workload/lifecycle/job_over.hpp"
#include "models/workload/lifecycle/pods/pod_lives.hpp"
#include "models/workload/lifecycle/runs/training_runs.hpp"

namespace orrery {

// Pods of services start and are replaced like other independent pods; see IndependentPods.
class ServiceLives {
 public:
  ServiceLives(Engine& engine, const JobTable& jobs, JobPhases& phases, PodLives& pods,
               TrainingRuns& runs, RecoveryLog& recoveries, JobNews& news);

  void admitted(JobId job);                     // call before job_arrived is emitted
  void scale(JobId service, int32_t replicas);  // number of pods from now on
  void set_use(JobId service, double use);      // share of time in which running pods compute
  int32_t replicas(JobId service) const { return states_[service].replicas; }
  void end(JobId job);  // call when the service is over

  Signal<JobId, const JobOver&> over;
  Signal<JobId> scaled_down;  // pods were removed, so the job's phase may change

 private:
  struct State {
    EventId ends;
    int32_t replicas = 0;  // desired replicas
  };
  void retire(JobId job, int32_t count);

  Engine& engine_;
  const JobTable& jobs_;
  JobPhases& phases_;
  PodLives& pods_;
  TrainingRuns& runs_;
  RecoveryLog& recoveries_;
  JobNews& news_;
  IdVector<JobId, State> states_;
};

}  // namespace orrery
