// models/workload/lifecycle/service_lives.hpp -- services: pods whose number changes, and their
// end.
#pragma once

#include <cstdint>

#include "models/workload/job/job_news.hpp"
#include "models/workload/lifecycle/job_over.hpp"
#include "models/workload/lifecycle/pods/pod_lives.hpp"
#include "models/workload/lifecycle/runs/training_runs.hpp"

namespace orrery {

// Their pods start and are replaced as other independent pods are; see IndependentPods.
class ServiceLives {
 public:
  ServiceLives(Engine& engine, const JobTable& jobs, JobPhases& phases, PodLives& pods,
               TrainingRuns& runs, RecoveryLog& recoveries, JobNews& news);

  void admitted(JobId job);                     // before the news is emitted
  void scale(JobId service, int32_t replicas);  // so many pods from now on
  void set_use(JobId service, double use);  // the part of their time that those that run are busy
  int32_t replicas(JobId service) const { return states_[service].replicas; }
  void end(JobId job);  // it is over

  Signal<JobId, const JobOver&> over;
  Signal<JobId> scaled_down;  // its phase may be another

 private:
  struct State {
    EventId ends;
    int32_t replicas = 0;  // that there shall be
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
