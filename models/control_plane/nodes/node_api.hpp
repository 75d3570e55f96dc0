// models/control_plane/nodes/node_api.hpp -- the way of nodes through the Kubernetes API.
#pragma once

#include <cstdint>
#include <functional>

#include "models/control_plane/base/request.hpp"
#include "sim/core/id.hpp"

namespace orrery {

constexpr uint32_t kKubelet = 0, kKubeProxy = 1, kFirstDaemon = 2;  // clients of a node

class NodeApi {
 public:
  // Told once. False: the API refused, or was not to be reached however often it was tried.
  virtual void send(NodeId node, uint32_t client, const ApiRequest& request,
                    std::function<void(bool is_done)> done) = 0;
  // Pods that were on the node when it died are deleted: by its kubelet if it is back. Told once
  // their controllers have heard of it, however often it has to be tried.
  virtual void delete_dead_pods(NodeId node, bool is_back, std::function<void()> done) = 0;

 protected:
  ~NodeApi() = default;
};

}  // namespace orrery
