// A service becomes a job with the service's maximum number of pods.
#include <optional>
#include <utility>

#include "models/workload/services/service_params.hpp"
#include "models/workload/sources/trace_source.hpp"
#include "sim/config/quantity.hpp"

namespace orrery {
namespace {

class Service final : public JobSource {
 public:
  explicit Service(const ServiceParams& params) {
    JobSpec& job = request_.emplace();
    job.name = params.name;
    job.team = params.team;
    job.kind = JobKind::Pods;
    job.controller = WorkloadKind::ReplicaSet;
    job.submitted = Time{} + params.submit;
    job.work = params.lasts.value_or(kNeverEnds);
    job.gangs.push_back({.roles = {{params.pod.spec(params.priority), params.pods_most()}}});
    job.service = std::make_shared<ServiceParams>(params);
  }
  const JobSpec* peek() override { return request_ ? &*request_ : nullptr; }
  void pop() override { request_.reset(); }

 private:
  std::optional<JobSpec> request_;
};

}  // namespace

void ServiceParams::check(Checker& c) const {
  if (name.empty()) c.error("name", "must not be empty");
  if (load.empty()) c.error("load", "needs a step");
  for (size_t i = 1; i < load.size(); ++i) {
    if (load[i].at > load[i - 1].at) continue;
    c.error("load[" + std::to_string(i) + "].at",
            "must be later than the step before, " + format_quantity(load[i - 1].at));
  }
  if (autoscaler && replicas > autoscaler->replicas_max) {
    c.error("replicas", "must not be above autoscaler.replicas_max");
  }
  if (autoscaler && replicas < autoscaler->replicas_min) {
    c.error("replicas", "must not be below autoscaler.replicas_min");
  }
}

std::unique_ptr<JobSource> make_service(const ServiceParams& params) {
  return std::make_unique<Service>(params);
}

}  // namespace orrery
