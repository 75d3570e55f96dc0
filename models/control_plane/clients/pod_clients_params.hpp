// models/control_plane/clients/pod_clients_params.hpp -- clients of the API servers, with their
// rate limits.
#pragma once

#include <string_view>

#include "models/control_plane/clients/api_client_params.hpp"
#include "models/facts/fact.hpp"
#include "sim/config/fields.hpp"

namespace orrery {

struct PodClientsParams {
  static constexpr std::string_view kDoc =
      "Clients that write or watch pods and nodes, with their rate limits.";
  ApiClientParams kubelet = {.qps = 50, .burst = 100};
  ApiClientParams controller_manager = {.qps = 20, .burst = 30};
  ApiClientParams scheduler = {.qps = 50, .burst = 100};
  ApiClientParams kube_proxy = {.qps = 5, .burst = 10};
  ApiClientParams daemons = {.qps = 5, .burst = 10};
  ApiClientParams others = {.qps = 5, .burst = 10};

  template <class V>
  void fields(V& v) {
    v("kubelet", kubelet, "The kubelet of each node.",
      Source{"kubelet (qps/burst): 50/100 since 1.27, 5/10 before"});
    v("controller_manager", controller_manager,
      "The kube-controller-manager, which creates and deletes pods.",
      Source{"kube-controller-manager (qps/burst): 20/30"});
    v("scheduler", scheduler, "The scheduler, which binds pods to nodes.",
      Source{"kube-scheduler (qps/burst): 50/100"});
    v("kube_proxy", kube_proxy,
      "The kube-proxy of each node, which sends requests when the node boots.",
      Source{"kube-proxy (qps/burst): 5/10"});
    v("daemons", daemons, "Each DaemonSet pod, which sends requests when its node boots.",
      Source{"client-go (qps/burst): 5/10"});
    v("others", others, "All other clients, such as those that list Events.",
      Source{"client-go (qps/burst): 5/10"});
  }
};

}  // namespace orrery
