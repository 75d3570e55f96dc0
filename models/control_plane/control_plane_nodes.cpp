// models/control_plane/control_plane_nodes.cpp -- nodes that boot, register or die, Leases that
// cannot be stored, and the sizes of LISTs of pods.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "models/control_plane/control_plane.hpp"

namespace orrery {

void ControlPlane::watch_leases() {
  const auto tell = [this] { cut_off.emit(servers_.up() == 0 || !etcd_.objects().stores()); };
  servers_.lost.connect([tell](uint32_t) { tell(); });
  for (uint32_t s = 0; s < servers_.size(); ++s) servers_.server(s).recovered.connect(tell);
  etcd_.objects().news.connect([tell](EtcdNews, uint32_t) { tell(); });
}

void ControlPlane::leave_out_absent(const NodePresence& presence) {
  for (uint32_t n = 0; n < presence.nodes(); ++n) {
    if (presence.is_up({n})) continue;
    is_up_[n] = false;
    --nodes_up_;
    --nodes_registered_;
    node_objects_.absent({n});
  }
}

void ControlPlane::node_registered(NodeId /*node*/) { servers_.set_nodes(++nodes_registered_); }

// Deletes the objects that belong to the Node, as the garbage collector does.
void ControlPlane::node_deregistered(NodeId node) {
  servers_.set_nodes(--nodes_registered_);
  node_objects_.removed(node);
}

void ControlPlane::send(NodeId node, uint32_t client, const ApiRequest& request,
                        std::function<void(bool)> done) {
  ApiClient& by = client == kKubelet ? kubelet(node) : node_clients_.of(node, client);
  ApiRequest named = request;
  named.object = node_objects_.name(node, request, sim_.engine.now());
  by.send(named,
          [this, node, object = named.object, done = std::move(done)](const ApiAnswer& answer) {
            node_objects_.answered(node, object, sim_.engine.now());
            done(answer.outcome == ApiOutcome::Done);
          });
}

void ControlPlane::delete_dead_pods(NodeId node, bool is_back) {
  const auto deleted = [this, node] {
    const std::vector<DeadPod> gone = dead_pods_.deleted(node);
    if (!gone.empty()) pods_news_.dead_pods_gone.emit(gone);
  };
  for (const uint32_t object : dead_pods_.begin(node)) {
    delete_pod(is_back ? kubelet(node) : garbage_collector_, object, controllers_watch(), deleted);
  }
}

// Sets the sizes of LISTs of pods. For a node's LIST, pods are taken as spread evenly over the
// nodes that are up.
void ControlPlane::size_lists() {
  const auto size = [this](ApiRequest& list, int64_t objects) {
    list.objects = static_cast<int32_t>(std::min<int64_t>(objects, INT32_MAX));
    list.bytes = list.answer = params_.pods.bytes * objects;
  };
  const int64_t pods = store_.stored(ApiResource::Pods), nodes = std::max<int64_t>(nodes_up_, 1);
  size(all_pods_, pods);
  size(pods_of_node_, (pods + nodes - 1) / nodes);
}

}  // namespace orrery
