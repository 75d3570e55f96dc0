// Cordoned nodes take no new pods, except pods that tolerate the cordon.
#include <algorithm>

#include "models/scheduling/contract/policy_registry.hpp"

namespace orrery {
namespace {

constexpr Status kCordoned{Code::UnschedulableAndUnresolvable, "node(s) were unschedulable"};

class NodeUnschedulable final : public Policy, public Filter, public EventHints {
 public:
  using Params = NoParams;
  NodeUnschedulable(Handle& handle, const Params& /*params*/) : handle_{handle} {}

  void filter(const Cycle& cycle, Candidates& nodes) const override {
    if (tolerates_cordon(*cycle.pod.spec)) return;
    nodes.drop(cycle.cluster.cordoned(), kCordoned);
  }
  bool is_node_local() const override { return true; }

  ClusterEvents events() const override {
    return bit_of(ClusterEventKind::NodeAdded) | bit_of(ClusterEventKind::NodeChanged);
  }
  QueueHint hint(const PodView& /*pod*/, const ClusterEvent& event) const override {
    return handle_.cluster().cordoned().contains(event.node) ? QueueHint::Skip : QueueHint::Queue;
  }

 private:
  bool tolerates_cordon(const PodSpec& spec) const {
    return std::ranges::any_of(spec.tolerations,
                               [&](const Toleration& t) { return t.tolerates(cordon_); });
  }
  const Handle& handle_;
  const Taint cordon_{"node.kubernetes.io/unschedulable", "", TaintEffect::NoSchedule};
};
ORRERY_REGISTER_POLICY(NodeUnschedulable, "NodeUnschedulable",
                       "Rejects cordoned nodes, unless the pod tolerates "
                       "node.kubernetes.io/unschedulable:NoSchedule.");

}  // namespace
}  // namespace orrery
