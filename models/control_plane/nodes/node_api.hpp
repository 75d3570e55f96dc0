// models/control_plane/nodes/node_api.hpp -- the way of nodes through the Kubernetes API.
#pragma once

#include <cstdint>
#include <functional>

#include "models/control_plane/base/request.hpp"
#include "sim/core/id.hpp"
#include "sim/engine/signal.hpp"

namespace orrery {

constexpr uint32_t kKubelet = 0, kKubeProxy = 1, kFirstDaemon = 2;  // clients of a node

class NodeApi {
 public:
  // Called once. False: the API refused, or was not to be reached however often it was tried.
  virtual void send(NodeId node, uint32_t client, const ApiRequest& request,
                    std::function<void(bool is_done)> done) = 0;
  // Pods that were on the node when it died are deleted: by its kubelet if it is back. However
  // often that has to be tried, PodNews::dead_pods_gone follows once their controllers know.
  virtual void delete_dead_pods(NodeId node, bool is_back) = 0;

  Signal<bool> cut_off;  // no heartbeat can be stored, or again they can

 protected:
  ~NodeApi() = default;
};

}  // namespace orrery
