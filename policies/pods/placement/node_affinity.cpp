// Required and preferred node affinity, and the nodes that a job queue chose.
#include <algorithm>
#include <deque>
#include <vector>

#include "models/scheduling/contract/policy_registry.hpp"
#include "models/scheduling/toolbox/required_nodes.hpp"
#include "models/scheduling/toolbox/scoring.hpp"

namespace orrery {
namespace {

constexpr Status kNoMatch{Code::UnschedulableAndUnresolvable,
                          "node(s) didn't match Pod's node affinity/selector"};

class NodeAffinity final : public Policy,
                           public PreFilter,
                           public Filter,
                           public PreScore,
                           public Score,
                           public EventHints {
 public:
  using Params = NoParams;
  static constexpr Traits kTraits = Trait::HeedsQueueNodes;
  NodeAffinity(Handle& handle, const Params& /*params*/) : handle_{handle} {}

  // Keeps only the nodes that the job queue chose for the pod.
  Status pre_filter(const Cycle& cycle, NodeSet& nodes) const override {
    if (cycle.pod.nodes != nullptr) nodes &= *cycle.pod.nodes;
    return {};
  }

  void filter(const Cycle& cycle, Candidates& nodes) const override {
    const PodSpec& spec = *cycle.pod.spec;
    if (spec.required_terms.empty()) return;
    nodes.keep(required_->of(cycle.cluster, cycle.pod.spec_id, spec), kNoMatch);
  }

  Status pre_score(const Cycle& cycle, std::span<const NodeId> /*feasible*/) const override {
    if (cycle.pod.spec->preferred_terms.empty()) return {Code::Skip};
    return {};
  }
  // The score is the summed weight of the preferred terms that the node matches.
  void score(const Cycle& cycle, std::span<const NodeId> nodes,
             std::span<int64_t> scores) const override {
    std::ranges::fill(scores, 0);
    for (const Preference& preference : preferences(cycle)) {
      for (size_t k = 0; k < nodes.size(); ++k) {
        scores[k] += preference.nodes.contains(nodes[k]) ? preference.weight : 0;
      }
    }
  }
  void normalize(std::span<int64_t> scores) const override {
    normalize_scores(scores, Normalization::Plain);
  }
  // Filter and Score are both node-local.
  bool is_node_local() const override { return true; }
  bool is_by_extremes() const override { return true; }

  ClusterEvents events() const override {
    return bit_of(ClusterEventKind::NodeAdded) | bit_of(ClusterEventKind::NodeChanged);
  }
  QueueHint hint(const PodView& pod, const ClusterEvent& event) const override {
    if (pod.spec->required_terms.empty()) return QueueHint::Queue;
    const bool matches =
        required_->of(handle_.cluster(), pod.spec_id, *pod.spec).contains(event.node);
    return matches ? QueueHint::Queue : QueueHint::Skip;
  }

 private:
  struct Preference {
    int64_t weight = 0;
    NodeSet nodes;
  };
  using Preferences = std::vector<Preference>;

  // Computed once for each spec: labels never change in a run.
  const Preferences& preferences(const Cycle& cycle) const {
    const size_t id = cycle.pod.spec_id.index;
    if (id >= preferred_->size()) preferred_->resize(id + 1);
    Preferences& known = (*preferred_)[id];
    if (known.empty()) {
      for (const PreferredTerm& preferred : cycle.pod.spec->preferred_terms) {
        if (preferred.term.all_of.empty()) continue;  // an empty term matches nothing
        known.push_back({preferred.weight, cycle.cluster.matching(preferred.term)});
      }
    }
    return known;
  }

  const Handle& handle_;
  Cached<RequiredNodes> required_;
  Cached<std::vector<Preferences>> preferred_;  // by SpecId
};
ORRERY_REGISTER_POLICY(NodeAffinity, "NodeAffinity",
                       "Accepts only nodes whose labels match the required terms. Nodes that "
                       "match preferred terms score higher. If a job queue chose nodes for the "
                       "job, only the chosen nodes are accepted.");

}  // namespace
}  // namespace orrery
