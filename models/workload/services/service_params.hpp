// models/workload/services/service_params.hpp -- a service: equal pods that serve a load. An
// autoscaler may adapt their number.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/workload/job/job_source.hpp"
#include "models/workload/job/pod_params.hpp"
#include "models/workload/services/horizontal_pod_autoscaler_params.hpp"
#include "sim/config/fields.hpp"

namespace orrery {

struct LoadStepParams {
  static constexpr std::string_view kDoc = "A load that holds until the next step.";

  Duration at = {};
  double load = 0;

  template <class V>
  void fields(V& v) {
    v("at", at, "Time from the start of the run until this load begins.", Required{}, IsInstant{});
    v("load", load, "The load, as a number of fully busy replicas.", Range{0.0, 1e6},
      Unit{"replicas"}, Required{}, Example{"7.5"});
  }
};

struct ServiceParams {
  static constexpr std::string_view kKind = "service";
  static constexpr std::string_view kDoc =
      "A Deployment: independent pods that run until they are deleted, and share a load evenly. "
      "Their GPUs compute for load / (running pods) of the time, and idle for the rest.";

  std::string name = {}, team = {};
  Duration submit = {};
  std::optional<Duration> lasts = {};
  int32_t replicas = 1;
  int32_t priority = 0;
  PodParams pod = {};
  std::vector<LoadStepParams> load = {};
  std::optional<HorizontalPodAutoscalerParams> autoscaler = {};

  template <class V>
  void fields(V& v) {
    v("name", name, "Name of the service.", Required{}, Example{"frontend"});
    v("team", team, "Team, virtual cluster or namespace.");
    v("submit", submit, "When the service is deployed, from the start of the run.", IsInstant{});
    v("lasts", lasts,
      "The service is deleted after this time. Absent: it never ends, and the run needs `until`.",
      Range{1_s, Duration::max()});
    v("replicas", replicas, "Number of pods; with an autoscaler, the initial number.",
      Range{1, 1'000'000}, Unit{"pods"});
    v("priority", priority, "Priority of the service's pods.", kPriorities);
    v("pod", pod, "Requests of each pod.");
    v("load", load,
      "Steps of the load of all replicas together, in order of time. Before the first step the "
      "load is 0.",
      Required{});
    v("autoscaler", autoscaler, "Changes the number of replicas; absent: the number is constant.");
  }
  void check(Checker& c) const;
  int32_t pods_most() const { return autoscaler ? autoscaler->replicas_max : replicas; }
};

std::unique_ptr<JobSource> make_service(const ServiceParams& params);

}  // namespace orrery
