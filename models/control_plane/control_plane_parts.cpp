// models/control_plane/control_plane_parts.cpp -- adds the clients of the control plane, and the
// components that cause load.
#include <memory>

#include "models/control_plane/control_plane.hpp"

namespace orrery {

void ControlPlane::add_clients() {
  for (size_t c = 0; c < kPodControllers; ++c) {
    controllers_.push_back(std::make_unique<ApiClient>(
        sim_.engine, servers_, params_.clients.controller_manager,
        ApiClient::Setup{.kind = ApiClientKind::ControllerManager}, client_rng_));
  }
  for (uint32_t n = 0; n < is_up_.size(); ++n) {
    kubelets_.push_back(std::make_unique<ApiClient>(
        sim_.engine, servers_, params_.clients.kubelet,
        ApiClient::Setup{.kind = ApiClientKind::Kubelet, .user = n}, client_rng_));
    reflectors_.add({.client = *kubelets_.back(),
                     .list = {.resource = ApiResource::Pods},
                     .is_narrow = true,
                     .sizes = &pods_of_node_});
  }
  const auto watch_all_pods = [this](ApiClient& client) {
    reflectors_.add(
        {.client = client, .list = {.resource = ApiResource::Pods}, .sizes = &all_pods_});
  };
  watch_all_pods(scheduler_);
  for (int32_t i = 1; i < params_.pods.watchers; ++i) {
    pod_watchers_.push_back(std::make_unique<ApiClient>(
        sim_.engine, servers_, params_.clients.controller_manager,
        ApiClient::Setup{.kind = ApiClientKind::ControllerManager}, client_rng_));
    watch_all_pods(*pod_watchers_.back());
  }
}

void ControlPlane::add_loads() {
  if (params_.events) {
    events_ = std::make_unique<PodEvents>(sim_, servers_, store_,
                                          PodEvents::Params{.events = *params_.events,
                                                            .clients = params_.clients,
                                                            .api_servers = params_.api_servers,
                                                            .etcd = params_.etcd},
                                          is_up_);
  }
  if (!params_.crash_loops.empty()) {
    crash_loops_ =
        std::make_unique<CrashLoops>(sim_, servers_, etcd_,
                                     CrashLoops::Params{.crash_loops = params_.crash_loops,
                                                        .pods = params_.pods,
                                                        .kubelet = params_.kubelet,
                                                        .clients = params_.clients,
                                                        .api_servers = params_.api_servers,
                                                        .etcd = params_.etcd});
  }
  if (params_.namespaces) {
    namespaces_ =
        std::make_unique<NamespaceChurn>(sim_, servers_, store_, job_namespaces_,
                                         NamespaceChurn::Params{.namespaces = *params_.namespaces,
                                                                .clients = params_.clients,
                                                                .api_servers = params_.api_servers},
                                         is_up_);
  }
  if (params_.services.groups.empty()) return;
  services_ =
      std::make_unique<Services>(Services::Context{.sim = sim_,
                                                   .servers = servers_,
                                                   .store = store_,
                                                   .node_clients = node_clients_,
                                                   .jobs = jobs_,
                                                   .namespaces = job_namespaces_,
                                                   .nodes = static_cast<uint32_t>(is_up_.size())},
                                 params_.services, params_.clients);
}

}  // namespace orrery
