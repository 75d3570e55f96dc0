// models/control_plane/control_plane_nodes.cpp -- nodes that boot or died, and leases that cannot
// be stored.
#include <memory>
#include <utility>

#include "models/control_plane/control_plane.hpp"

namespace orrery {

void ControlPlane::watch_leases() {
  const auto tell = [this] {
    cut_off.emit(servers_.up() == 0 || etcd_.objects().is_out_of_space());
  };
  servers_.lost.connect([tell](uint32_t) { tell(); });
  for (uint32_t s = 0; s < servers_.size(); ++s) servers_.server(s).recovered.connect(tell);
  etcd_.objects().ran_out_of_space.connect(tell);
}

void ControlPlane::node_absent(NodeId node) {
  is_up_[node.index] = false;
  --nodes_up_;
  --nodes_registered_;
}

void ControlPlane::node_registered() { servers_.set_nodes(++nodes_registered_); }

void ControlPlane::send(NodeId node, uint32_t client, const ApiRequest& request,
                        std::function<void(bool)> done) {
  ApiClient& by = client == kKubelet ? kubelet(node) : node_clients_.of(node, client);
  by.send(request, [done = std::move(done)](const ApiAnswer& answer) {
    done(answer.outcome == ApiOutcome::Done);
  });
}

void ControlPlane::delete_dead_pods(NodeId node, bool is_back, std::function<void()> done) {
  const auto left = std::make_shared<int64_t>(std::exchange(dead_pods_[node.index], 0));
  if (*left == 0) return done();
  for (int64_t n = *left; n > 0; --n) {
    delete_pod(is_back ? kubelet(node) : garbage_collector_, [left, done] {
      if (--*left == 0) done();
    });
  }
}

void ControlPlane::delete_pod(ApiClient& client, std::function<void()> done) {
  const auto deleted = [this, &client, done = std::move(done)](Creation news) {
    if (news == Creation::Known) done();
    if (news == Creation::Refused) delete_pod(client, done);
  };
  write(client, Verb::Delete, deleted, {});
}

}  // namespace orrery
