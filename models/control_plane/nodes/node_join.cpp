#include "models/control_plane/nodes/node_join.hpp"

#include <algorithm>
#include <utility>

namespace orrery {

JoinLoad join_load(const NodeJoinParams& p, const ServiceSizes& sizes) {
  JoinLoad load;
  load.reads = (p.certificate_requests > 0 ? 1 : 0) + (p.lease_requests > 0 ? 1 : 0);
  load.writes = p.certificate_requests + p.lease_requests - load.reads + p.registrations +
                p.status_patches + p.events;
  load.watches = p.kubelet_lists + p.proxy_lists + p.daemons * p.lists_per_daemon;
  // The kubelet lists services for the environment of containers; kube-proxy their addresses, too.
  load.service_lists = std::min(p.kubelet_lists, 1) + std::min(p.proxy_lists, 1);
  load.address_lists = std::clamp(p.proxy_lists - 1, 0, 1);
  load.lists = load.watches - load.service_lists - load.address_lists;
  load.listed = p.service_bytes * (sizes.services * load.service_lists) +
                sizes.addresses * load.address_lists;
  return load;
}

JoinGate::JoinGate(Engine& engine, const NodeJoinParams& params) : engine_{engine} {
  if (params.rate_max > 0) tokens_.emplace(params.rate_max, params.burst);
}

void JoinGate::ask(Callback enter) {
  if (!tokens_) return enter();
  const Time now = engine_.now();
  if (waiting_.empty() && tokens_->earliest(now) == now) {
    tokens_->reserve(now);
    return enter();
  }
  waiting_.push_back(std::move(enter));
  if (waiting_.size() == 1) plan();
}

void JoinGate::plan() {
  next_ = engine_.at(tokens_->earliest(engine_.now()), Label{"node_join.let_in"}, [this] {
    Callback enter = std::move(waiting_.front());
    waiting_.pop_front();
    tokens_->reserve(engine_.now());
    if (!waiting_.empty()) plan();
    enter();
  });
}

}  // namespace orrery
