// Pods with spec.nodeName go only to that node.
#include "models/scheduling/contract/policy_registry.hpp"

namespace orrery {
namespace {

constexpr Status kOtherNode{Code::UnschedulableAndUnresolvable,
                            "node(s) didn't match the requested node name"};

class NodeName final : public Policy, public Filter, public EventHints {
 public:
  using Params = NoParams;
  NodeName(Handle& handle, const Params& /*params*/) : handle_{handle} {}

  void filter(const Cycle& cycle, Candidates& nodes) const override {
    const std::string& wanted = cycle.pod.spec->node_name;
    if (wanted.empty()) return;
    nodes.keep_if([&](NodeId n) { return cycle.cluster.name(n) == wanted; }, kOtherNode);
  }
  bool is_node_local() const override { return true; }

  ClusterEvents events() const override { return bit_of(ClusterEventKind::NodeAdded); }
  QueueHint hint(const PodView& pod, const ClusterEvent& event) const override {
    const bool is_wanted = handle_.cluster().name(event.node) == pod.spec->node_name;
    return is_wanted ? QueueHint::Queue : QueueHint::Skip;
  }

 private:
  const Handle& handle_;
};
ORRERY_REGISTER_POLICY(NodeName, "NodeName",
                       "If the pod names a node, only that node is accepted.");

}  // namespace
}  // namespace orrery
