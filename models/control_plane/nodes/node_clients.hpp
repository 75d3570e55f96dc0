// models/control_plane/nodes/node_clients.hpp -- API clients of each node's kube-proxy and daemons.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "models/control_plane/clients/api_client.hpp"
#include "models/control_plane/clients/pod_clients_params.hpp"
#include "models/control_plane/nodes/node_api.hpp"

namespace orrery {

// A client is created on its first use. Kube-proxies of all nodes share a service account, and so
// do daemons of one kind.
class NodeClients {
 public:
  NodeClients(Engine& engine, ApiServers& servers, const PodClientsParams& params, Rng& rng,
              uint32_t nodes)
      : engine_{engine}, servers_{servers}, params_{params}, rng_{rng}, clients_(nodes) {}

  ApiClient& of(NodeId node, uint32_t client) {
    std::vector<std::unique_ptr<ApiClient>>& here = clients_[node.index];
    const size_t index = client - kKubeProxy;
    if (index >= here.size()) here.resize(index + 1);
    if (!here[index]) {
      const bool is_proxy = client == kKubeProxy;
      here[index] = std::make_unique<ApiClient>(
          engine_, servers_, is_proxy ? params_.kube_proxy : params_.daemons,
          ApiClient::Setup{
              .kind = is_proxy ? ApiClientKind::KubeProxy : ApiClientKind::ServiceAccount,
              .user = is_proxy ? 0 : client},
          rng_);
    }
    return *here[index];
  }

 private:
  Engine& engine_;
  ApiServers& servers_;
  const PodClientsParams& params_;
  Rng& rng_;
  std::vector<std::vector<std::unique_ptr<ApiClient>>> clients_;  // by node
};

}  // namespace orrery
