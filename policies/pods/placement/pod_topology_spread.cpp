// Spreads pods evenly over nodes or over leaf switches.
#include <algorithm>
#include <array>
#include <vector>

#include "models/scheduling/contract/policy_registry.hpp"
#include "models/scheduling/toolbox/required_nodes.hpp"
#include "models/scheduling/toolbox/scoring.hpp"

namespace orrery {
namespace {

constexpr Status kSkewed{Code::Unschedulable,
                         "node(s) didn't match pod topology spread constraints"};

enum class WhenUnsatisfiable : uint8_t { DoNotSchedule, ScheduleAnyway };
constexpr std::array<std::string_view, 2> enum_names(WhenUnsatisfiable) {
  return {"DoNotSchedule", "ScheduleAnyway"};
}

struct ConstraintParams {
  int32_t maxSkew = 1;
  PodTopology topologyKey = PodTopology::Hostname;
  WhenUnsatisfiable whenUnsatisfiable = WhenUnsatisfiable::ScheduleAnyway;
  template <class V>
  void fields(V& v) {
    v("maxSkew", maxSkew, "By how many pods a domain may exceed the domain with the fewest pods.",
      Range{1, 1'000'000}, Unit{"pods"}, Required{});
    v("topologyKey", topologyKey, "What a domain is: one node, or the nodes of one leaf switch.",
      Required{});
    v("whenUnsatisfiable", whenUnsatisfiable,
      "DoNotSchedule: nodes where the pod would exceed maxSkew are filtered out; ScheduleAnyway: "
      "nodes of domains with more pods score lower.",
      Required{});
  }
};

// A constraint in the pod's spec counts the placed pods that have all labels of the constraint,
// whatever their job. A pod without constraints gets the default constraints, which count the pods
// of its own job. Upstream's default constraints count the pods of the same ReplicaSet or Service.
class PodTopologySpread final : public Policy,
                                public PreFilter,
                                public Filter,
                                public PreScore,
                                public Score,
                                public EventHints {
 public:
  static constexpr Traits kTraits = Trait::HeedsSpread;
  struct Params {
    std::vector<ConstraintParams> defaultConstraints;
    template <class V>
    void fields(V& v) {
      v("defaultConstraints", defaultConstraints,
        "Constraints of pods without `topology_spread`. Only pods of the same job are counted.",
        Source{"kube-scheduler 1.36 has no defaults for the pods of jobs"});
    }
    void check(Checker& checker) const {
      for (size_t i = 0; i < defaultConstraints.size(); ++i) {
        for (size_t k = 0; k < i; ++k) {
          if (defaultConstraints[i].topologyKey == defaultConstraints[k].topologyKey &&
              defaultConstraints[i].whenUnsatisfiable == defaultConstraints[k].whenUnsatisfiable) {
            checker.error("defaultConstraints", "must differ in topologyKey or whenUnsatisfiable");
            return;
          }
        }
      }
    }
  };
  PodTopologySpread(Handle& handle, const Params& params) : handle_{handle} {
    for (const ConstraintParams& c : params.defaultConstraints) {
      defaults_.push_back({.max_skew = c.maxSkew,
                           .topology_key = c.topologyKey,
                           .is_hard = c.whenUnsatisfiable == WhenUnsatisfiable::DoNotSchedule,
                           .match_labels = {}});
    }
  }

  Status pre_filter(const Cycle& cycle, NodeSet& /*nodes*/) const override {
    if (std::ranges::none_of(constraints_of(cycle), &TopologySpread::is_hard)) return {Code::Skip};
    return {};
  }
  // Counts the pods at each call, not once in PreFilter: preemption calls filter() again in
  // what-ifs, in which pods are evicted.
  void filter(const Cycle& cycle, Candidates& nodes) const override {
    const NodeSet eligible = eligible_nodes(cycle);
    for (const TopologySpread& c : constraints_of(cycle)) {
      if (!c.is_hard) continue;
      const std::vector<int32_t> pods = count_pods(cycle, eligible, c);
      int32_t least = INT32_MAX;
      eligible.for_each(
          [&](NodeId n) { least = std::min(least, pods[domain_of(cycle.cluster, c, n)]); });
      const int32_t self = has_labels(*cycle.pod.spec, c.match_labels) ? 1 : 0;
      const auto fits = [&](NodeId n) {
        return pods[domain_of(cycle.cluster, c, n)] + self - least <= c.max_skew;
      };
      nodes.keep_if(fits, kSkewed);
    }
  }

  Status pre_score(const Cycle& cycle, std::span<const NodeId> feasible) const override {
    Counted& counted = cycle.state.of<Counted>(*this);
    counted.soft.clear();
    const NodeSet eligible = eligible_nodes(cycle);
    for (const TopologySpread& c : constraints_of(cycle)) {
      if (c.is_hard) continue;
      counted.soft.push_back({.constraint = &c,
                              .pods = count_pods(cycle, eligible, c),
                              .domains = count_domains(cycle.cluster, feasible, c)});
    }
    if (counted.soft.empty()) return {Code::Skip};
    return {};
  }
  void score(const Cycle& cycle, std::span<const NodeId> nodes,
             std::span<int64_t> scores) const override {
    const auto* const counted = cycle.state.find<Counted>(*this);
    for (size_t k = 0; k < nodes.size(); ++k) {
      double sum = 0;
      for (const Soft& soft : counted->soft) {
        const TopologySpread& c = *soft.constraint;
        sum +=
            spread_term(soft.pods[domain_of(cycle.cluster, c, nodes[k])], soft.domains, c.max_skew);
      }
      scores[k] = spread_score(sum);
    }
  }
  void normalize(std::span<int64_t> scores) const override { normalize_spread(scores); }

  ClusterEvents events() const override {
    return bit_of(ClusterEventKind::AssignedPodDeleted) |
           bit_of(ClusterEventKind::AssignedPodAdded) | bit_of(ClusterEventKind::NodeAdded);
  }

 private:
  struct Soft {
    const TopologySpread* constraint;  // in the pod's spec, or a default
    std::vector<int32_t> pods;         // by domain
    int64_t domains;
  };
  struct Counted : CycleData {
    std::vector<Soft> soft;
  };

  std::span<const TopologySpread> constraints_of(const Cycle& cycle) const {
    const std::vector<TopologySpread>& own = cycle.pod.spec->topology_spread;
    return own.empty() ? defaults_ : own;
  }
  static size_t domain_of(const ClusterState& cluster, const TopologySpread& c, NodeId n) {
    return c.topology_key == PodTopology::Hostname ? n.index : cluster.leaf(n);
  }
  // Nodes whose pods are counted: nodes that are up and that the pod's own node affinity allows.
  NodeSet eligible_nodes(const Cycle& cycle) const {
    NodeSet eligible = cycle.cluster.up();
    if (cycle.pod.spec->required_terms.empty()) return eligible;
    eligible &= required_->of(cycle.cluster, cycle.pod.spec_id, *cycle.pod.spec);
    return eligible;
  }
  std::vector<int32_t> count_pods(const Cycle& cycle, const NodeSet& eligible,
                                  const TopologySpread& c) const {
    const ClusterState& cluster = cycle.cluster;
    const bool by_node = c.topology_key == PodTopology::Hostname;
    std::vector<int32_t> pods(by_node ? cluster.nodes() : cluster.leaves());
    const Placements& placements = handle_.placements();
    if (cycle.pod.spec->topology_spread.empty()) {
      for (const PodId pod : placements.of_job(cycle.pod.job)) {
        const NodeId node = placements.node_of(pod);
        if (eligible.contains(node)) ++pods[domain_of(cluster, c, node)];
      }
    } else {
      const PodCounts& selected = placements.count({.labels = c.match_labels});
      selected.where.for_each_of_both(
          eligible, [&](NodeId n) { pods[domain_of(cluster, c, n)] += selected.in[n.index]; });
    }
    return pods;
  }
  static int64_t count_domains(const ClusterState& cluster, std::span<const NodeId> feasible,
                               const TopologySpread& c) {
    if (c.topology_key == PodTopology::Hostname) return static_cast<int64_t>(feasible.size());
    std::vector<uint8_t> is_seen(cluster.leaves());
    for (const NodeId n : feasible) is_seen[cluster.leaf(n)] = 1;
    return std::ranges::count(is_seen, 1);
  }

  const Handle& handle_;
  std::vector<TopologySpread> defaults_;
  Cached<RequiredNodes> required_;
};
ORRERY_REGISTER_POLICY(PodTopologySpread, "PodTopologySpread",
                       "Spreads pods over nodes or leaf switches.");

}  // namespace
}  // namespace orrery
