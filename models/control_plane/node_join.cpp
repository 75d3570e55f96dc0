#include "models/control_plane/node_join.hpp"

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

void JoinGate::ask(Callback enter) {
  if (params_.rate_max <= 0 || (waiting_.empty() && earliest() <= engine_.now())) {
    if (params_.rate_max > 0) let_in();
    return enter();
  }
  waiting_.push_back(std::move(enter));
  if (waiting_.size() == 1) plan();
}

Time JoinGate::earliest() const {
  return full_at_ - nearest_ns(1 / params_.rate_max) * (params_.burst - 1);
}

void JoinGate::let_in() {
  full_at_ = std::max(full_at_, engine_.now()) + nearest_ns(1 / params_.rate_max);
}

void JoinGate::plan() {
  next_ = engine_.at(std::max(engine_.now(), earliest()), Label{"node_join.let_in"}, [this] {
    Callback enter = std::move(waiting_.front());
    waiting_.pop_front();
    let_in();
    if (!waiting_.empty()) plan();
    enter();
  });
}

}  // namespace orrery
