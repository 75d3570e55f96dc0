// models/control_plane/controllers_params.hpp -- the controllers that create pods.
#pragma once

#include <string_view>

#include "models/workload/workload_kind.hpp"
#include "sim/config/fields.hpp"
#include "sim/core/time.hpp"

namespace orrery {

struct ControllerParams {
  static constexpr std::string_view kDoc =
      "A controller that creates pods: each has a client of its own, whose rate is limited.";
  double qps = 20;
  int32_t burst = 30;
  int32_t pods_per_sync = 500;
  Duration job_backoff = 10_s;
  Duration job_backoff_max = 10_min;
  int32_t job_backoff_limit = 6;

  template <class V>
  void fields(V& v) {
    v("qps", qps, "Of its client, in the long run.", Range{0.01, 1e6}, Unit{"requests/s"},
      Source{"kube-controller-manager: --kube-api-qps"});
    v("burst", burst, "Requests of its client at once.", Range{1, 1'000'000}, Unit{"requests"},
      Source{"kube-controller-manager: --kube-api-burst"});
    v("pods_per_sync", pods_per_sync, "Of one job or set, before the next has its turn.",
      Range{1, 1'000'000}, Unit{"pods"}, Source{"Kubernetes: MaxPodCreateDeletePerSync"});
    v("job_backoff", job_backoff, "After the first failed pod of a Job; doubled for each more.",
      Range{1_ms, 24_h}, Source{"Kubernetes: DefaultJobPodFailureBackOff"});
    v("job_backoff_max", job_backoff_max, "It grows no further.", Range{1_ms, 24_h},
      Source{"Kubernetes: MaxJobPodFailureBackOff"});
    v("job_backoff_limit", job_backoff_limit, "Failed pods after which a Job has failed, less one.",
      Range{0, 1'000'000}, Unit{"pods"}, Source{"Kubernetes: backoffLimit"});
  }
  void check(Checker& c) const {
    if (job_backoff_max < job_backoff)
      c.error("job_backoff_max", "must not be less than job_backoff");
  }
};

}  // namespace orrery
