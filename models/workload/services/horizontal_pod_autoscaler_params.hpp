// models/workload/services/horizontal_pod_autoscaler_params.hpp -- how a service's replicas follow
// its load.
#pragma once

#include <cstdint>
#include <string_view>

#include "sim/config/options.hpp"
#include "sim/core/time.hpp"

namespace orrery {

// One direction of spec.behavior of a HorizontalPodAutoscaler. `pods` and `percent` are two
// policies; the policy that allows the larger change applies (selectPolicy: Max).
struct ScalingRulesParams {
  Duration stabilization = {};
  int32_t pods = 0;
  int32_t percent = 100;
  Duration period = 15_s;

  template <class V>
  void fields(V& v) {
    v("stabilization", stabilization,
      "Stabilization window: the smallest change that was recommended within this time applies.",
      Range{Duration{}, 1_h},
      Source{"stabilizationWindowSeconds of autoscaling/v2, 0 up and 300 down"});
    v("pods", pods,
      "Limit of the change per period, in pods. The larger of the two limits pods and percent "
      "applies.",
      Range{0, 1'000'000}, Unit{"pods"},
      Source{"autoscaling/v2: scaleUp 4; scaleDown has only a limit in percent"});
    v("percent", percent, "Limit of the change per period, in percent of the replicas.",
      Range{0, 1'000'000}, Unit{"%"}, Source{"autoscaling/v2, 100"});
    v("period", period, "Period of the limits pods and percent.", Range{1_s, 30_min},
      Source{"periodSeconds of autoscaling/v2, 15"});
  }
  template <class C>
  void check(C& c) const {
    if (pods == 0 && percent == 0)
      c.error("pods", "must be above 0, or percent must be: else nothing changes");
  }
};
struct ScaleUpRulesParams : ScalingRulesParams {
  static constexpr std::string_view kDoc = "How fast replicas are added.";
  ScaleUpRulesParams() : ScalingRulesParams{.stabilization = {}, .pods = 4} {}
};
struct ScaleDownRulesParams : ScalingRulesParams {
  static constexpr std::string_view kDoc = "How fast replicas are removed.";
  ScaleDownRulesParams() : ScalingRulesParams{.stabilization = 5_min, .pods = 0} {}
};

struct HorizontalPodAutoscalerParams {
  static constexpr std::string_view kDoc =
      "A HorizontalPodAutoscaler: it periodically sets replicas = ceil(replicas * use / target), "
      "from the CPU use that kubelets measured and a metrics server collected some time ago.";

  int32_t replicas_min = 1;
  int32_t replicas_max = 1;
  int32_t target = 80;
  double tolerance = 0.1;
  Duration sync_period = 15_s;
  Duration metrics_resolution = 1_min;
  Duration scrape_interval = 10_s;
  ScaleUpRulesParams scale_up = {};
  ScaleDownRulesParams scale_down = {};

  template <class V>
  void fields(V& v) {
    v("replicas_min", replicas_min, "Minimum number of replicas.", Range{1, 1'000'000},
      Unit{"pods"}, Source{"minReplicas of autoscaling/v2, 1"});
    v("replicas_max", replicas_max, "Maximum number of replicas.", Range{1, 1'000'000},
      Unit{"pods"}, Required{});
    v("target", target, "Target of the replicas' mean CPU use, in percent of their CPU requests.",
      Range{1, 100}, Unit{"%"},
      Source{"autoscaling/v2 sets averageUtilization to 80 if `metrics` is absent"});
    v("tolerance", tolerance,
      "The number of replicas does not change while the use deviates from the target by at most "
      "this share of the target.",
      Range{0.0, 1.0}, Unit{"share"},
      Source{"kube-controller-manager --horizontal-pod-autoscaler-tolerance"});
    v("sync_period", sync_period, "Time between two syncs of the autoscaler.", Range{1_s, 1_h},
      Source{"kube-controller-manager --horizontal-pod-autoscaler-sync-period"});
    v("metrics_resolution", metrics_resolution,
      "Time between two collections by the metrics server from kubelets. The phase is random.",
      Range{1_s, 1_h},
      Source{"metrics-server: 1min without --metric-resolution, but its manifest sets 15s"});
    v("scrape_interval", scrape_interval,
      "Time between two measurements of a container by its kubelet. Each measurement gives the "
      "mean use since the previous one.",
      Range{1_s, 10_min}, Source{"kubelet --housekeeping-interval"});
    v("scale_up", scale_up, "How fast replicas are added.");
    v("scale_down", scale_down, "How fast replicas are removed.");
  }
  template <class C>
  void check(C& c) const {
    if (replicas_min > replicas_max) c.error("replicas_min", "must not be above replicas_max");
    if (replicas_min == replicas_max) {
      c.error("replicas_min", "equals replicas_max: there is nothing to scale");
    }
    if (scrape_interval > metrics_resolution) {
      c.error("scrape_interval", "must not be longer than metrics_resolution");
    }
  }
};

}  // namespace orrery
