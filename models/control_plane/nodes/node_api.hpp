// models/control_plane/nodes/node_api.hpp -- requests of nodes to the Kubernetes API.
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
  // Calls `done` once, with false if the API rejected the request or all retries failed.
  virtual void send(NodeId node, uint32_t client, const ApiRequest& request,
                    std::function<void(bool is_done)> done) = 0;
  // Deletes the pods that were on the node when it died. With `is_back`, the node's own kubelet
  // deletes them, otherwise the garbage collector. The deletion is retried until stored.
  // PodNews::dead_pods_gone follows once the pods' controllers have observed the deletion.
  virtual void delete_dead_pods(NodeId node, bool is_back) = 0;

  Signal<bool> cut_off;  // true: heartbeats can no longer be stored; false: they can again

 protected:
  ~NodeApi() = default;
};

}  // namespace orrery
