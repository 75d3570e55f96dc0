// Keeps pods off nodes whose taints they do not tolerate, and prefers nodes with fewer untolerated
// PreferNoSchedule taints.
#include <algorithm>
#include <vector>

#include "models/scheduling/contract/policy_registry.hpp"
#include "models/scheduling/toolbox/scoring.hpp"

namespace orrery {
namespace {

constexpr Status kUntolerated{Code::UnschedulableAndUnresolvable,
                              "node(s) had untolerated taint(s)"};

bool tolerates(const PodSpec& spec, const Taint& taint) {
  return std::ranges::any_of(spec.tolerations,
                             [&](const Toleration& t) { return t.tolerates(taint); });
}
bool is_soft(const Taint& taint) { return taint.effect == TaintEffect::PreferNoSchedule; }

class TaintToleration final : public Policy, public Filter, public Score, public EventHints {
 public:
  using Params = NoParams;
  TaintToleration(Handle& handle, const Params& /*params*/) : handle_{handle} {}

  void filter(const Cycle& cycle, Candidates& nodes) const override {
    const auto taints = cycle.cluster.taints();
    for (size_t i = 0; i < taints.size(); ++i) {
      if (is_soft(taints[i]) || tolerates(*cycle.pod.spec, taints[i])) continue;
      nodes.drop(cycle.cluster.with_taint(i), kUntolerated);
    }
  }

  // The raw score is the number of PreferNoSchedule taints that the pod does not tolerate.
  void score(const Cycle& cycle, std::span<const NodeId> nodes,
             std::span<int64_t> scores) const override {
    std::ranges::fill(scores, 0);
    const auto taints = cycle.cluster.taints();
    for (size_t i = 0; i < taints.size(); ++i) {
      if (!is_soft(taints[i]) || tolerates(*cycle.pod.spec, taints[i])) continue;
      const NodeSet& tainted = cycle.cluster.with_taint(i);
      for (size_t k = 0; k < nodes.size(); ++k) scores[k] += tainted.contains(nodes[k]) ? 1 : 0;
    }
  }
  void normalize(std::span<int64_t> scores) const override {
    normalize_scores(scores, Normalization::Reversed);
  }
  // Filter and Score are both node-local.
  bool is_node_local() const override { return true; }
  bool is_by_extremes() const override { return true; }

  ClusterEvents events() const override {
    return bit_of(ClusterEventKind::NodeAdded) | bit_of(ClusterEventKind::NodeChanged);
  }
  QueueHint hint(const PodView& pod, const ClusterEvent& event) const override {
    const ClusterState& cluster = handle_.cluster();
    for (size_t i = 0; i < cluster.taints().size(); ++i) {
      const Taint& taint = cluster.taints()[i];
      if (is_soft(taint) || !cluster.with_taint(i).contains(event.node)) continue;
      if (!tolerates(*pod.spec, taint)) return QueueHint::Skip;
    }
    return QueueHint::Queue;
  }

 private:
  const Handle& handle_;
};
ORRERY_REGISTER_POLICY(TaintToleration, "TaintToleration",
                       "Rejects nodes with a NoSchedule or NoExecute taint that the pod does not "
                       "tolerate. Prefers nodes with few PreferNoSchedule taints that the pod does "
                       "not tolerate.");

}  // namespace
}  // namespace orrery
