// models/control_plane/autoscaling/service_scaling.hpp -- the load of services, and their
// autoscalers.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>

#include "models/control_plane/autoscaling/replica_calculator.hpp"
#include "models/control_plane/autoscaling/service_scaling_rows.hpp"
#include "models/workload/job/job_table.hpp"
#include "models/workload/lifecycle/job_controller.hpp"
#include "models/workload/services/service_params.hpp"
#include "sim/record/channel.hpp"
#include "sim/runtime/sim.hpp"

namespace orrery {

// The running replicas of a service share its load evenly, each up to its capacity. The use of a
// replica reaches the autoscaler with two delays. At each scrape, kubelets compute the mean use
// since the previous scrape. The metrics server collects these means periodically. Example: the
// load would fill 3 pods, but 4 pods run, so the use of each is 75 %. At 100 s the load doubles:
// each pod is at 100 %, and a third of the load is not served. A kubelet scrapes at 110 s, and the
// metrics server collects at 115 s. So the autoscaler's sync at 120 s is the first that sees a
// higher use.
class ServiceScaling {
 public:
  ServiceScaling(Sim sim, const JobTable& jobs, JobController& controller);
  ServiceScaling(const ServiceScaling&) = delete;
  ServiceScaling& operator=(const ServiceScaling&) = delete;

  void connect(JobNews& jobs, PodNews& pods);

  void sample(Time now);
  void finish();
  void add_summary(Recorder& recorder) const;

 private:
  struct Span {  // a time of constant use, until the next span begins
    Time from;
    double use = 0;
    double used_s = 0;  // integral of `use` over time, up to `from`
  };
  struct Service {
    explicit Service(const HorizontalPodAutoscalerParams& of) : limits{of} {}
    std::shared_ptr<const ServiceParams> params;
    ReplicaLimits limits;
    Time collected_first, scraped_first;  // first ticks of the metrics server and of the kubelets
    Duration memory;                      // how long spans are kept for use_mean()
    EventId next_load, next_sync;
    size_t steps_begun = 0;
    double load = 0;
    int32_t running = 0;
    std::deque<Span> spans;
  };
  struct Totals {
    uint64_t ups = 0, downs = 0;
    double load_s = 0, unserved_s = 0;
  };

  void job_arrived(JobId job);
  void job_over(JobId job);
  void pod_runs(PodId pod);
  void pod_removed(PodId pod);
  Time now() const { return sim_.engine.now(); }
  template <class F>
  void change(JobId job, Service& service, F&& f);  // applies `f`, which changes load or replicas
  void begin_steps(JobId job);
  static double use_mean(const Service& service, Time from, Time to);
  void plan_sync(JobId job, Service& service);
  void sync(JobId job);
  ReplicaUse collected(JobId job, const Service& service) const;

  Sim sim_;
  const JobTable& jobs_;
  JobController& controller_;
  std::map<JobId, Service> services_;
  Totals totals_;
  Channel<ServiceScalingRow> rows_;
  Channel<ServiceLoadSample> samples_;
};

}  // namespace orrery
