// models/control_plane/clients/api_client_params.hpp -- how clients hold back and try again, as a
// scenario says it.
#pragma once

#include <cstdint>
#include <string_view>

#include "models/control_plane/flow_control/priority_level_params.hpp"
#include "sim/config/options.hpp"
#include "sim/core/time.hpp"

namespace orrery {

struct ApiClientParams {
  static constexpr std::string_view kDoc = "One kind of client of the API servers.";
  double qps = 5;
  int32_t burst = 10;
  int32_t tries_max = 11;
  Duration backoff = 1_s, backoff_max = 30_s;

  template <class V>
  void fields(V& v) {
    v("qps", qps, "Requests a second that it sends at most, in the long run.", Range{1e-3, 1e9},
      Unit{"1/s"}, Source{"Kubernetes defaults of 2024; client-go: 5"});
    v("burst", burst, "Requests that it sends at once at most.", Range{1, 1'000'000},
      Unit{"requests"}, Source{"Kubernetes defaults of 2024; client-go: 10"});
    v("tries_max", tries_max, "How often it sends a request that is turned away or lost.",
      Range{1, 1'000'000}, Unit{"times"}, Source{"client-go: once, and 10 more"});
    v("backoff", backoff,
      "Before it tries again after a server was lost; up to twice as long, and doubled each time.",
      Source{"estimate"});
    v("backoff_max", backoff_max, "At which doubling ends.", Source{"client-go: reflectors, 30 s"});
  }
  template <class C>
  void check(C& c) const {
    for (const std::string_view field : {"backoff", "backoff_max"}) {
      if (tries_max > 1 || !c.is_given(field)) continue;
      c.idle(field, "has no effect with tries_max: 1, when nothing is tried again");
    }
    if (backoff_max < backoff) c.error("backoff_max", "must not be less than `backoff`");
  }
};

struct ApiClientsParams {
  static constexpr std::string_view kDoc = "The clients of the API servers, by kind.";
  ApiClientParams kubelet = {.qps = 50, .burst = 100};
  ApiClientParams kube_proxy = {.qps = 5, .burst = 10};
  ApiClientParams controller_manager = {.qps = 20, .burst = 30};
  ApiClientParams scheduler = {.qps = 50, .burst = 100};
  ApiClientParams others = {.qps = 5, .burst = 10};

  template <class V>
  void fields(V& v) {
    v("kubelet", kubelet, "One on each node.", Source{"kubelet: 50/100 since 1.27, 5/10 before"});
    v("kube_proxy", kube_proxy, "One on each node.", Source{"kube-proxy: 5/10"});
    v("controller_manager", controller_manager, "Each of its controllers.",
      Source{"kube-controller-manager: 20/30"});
    v("scheduler", scheduler, "The scheduler.", Source{"kube-scheduler: 50/100"});
    v("others", others, "Everybody else, such as the autoscaler and agents on nodes.",
      Source{"client-go, cluster-autoscaler: 5/10"});
  }
  const ApiClientParams& of(ApiClientKind kind) const {
    switch (kind) {
      case ApiClientKind::Kubelet:
        return kubelet;
      case ApiClientKind::KubeProxy:
        return kube_proxy;
      case ApiClientKind::ControllerManager:
      case ApiClientKind::EndpointController:
        return controller_manager;
      case ApiClientKind::Scheduler:
        return scheduler;
      default:
        return others;
    }
  }
};

}  // namespace orrery
