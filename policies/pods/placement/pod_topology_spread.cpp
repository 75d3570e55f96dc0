// Spreads the pods of a job evenly over nodes or over leaf switches.
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

enum class TopologyKey : uint8_t { Hostname, Leaf };
constexpr std::array<std::string_view, 2> enum_names(TopologyKey) { return {"hostname", "leaf"}; }
enum class Unsatisfiable : uint8_t { DoNotSchedule, ScheduleAnyway };
constexpr std::array<std::string_view, 2> enum_names(Unsatisfiable) {
  return {"DoNotSchedule", "ScheduleAnyway"};
}

struct ConstraintParams {
  int32_t maxSkew = 1;
  TopologyKey topologyKey = TopologyKey::Hostname;
  Unsatisfiable whenUnsatisfiable = Unsatisfiable::ScheduleAnyway;
  template <class V>
  void fields(V& v) {
    v("maxSkew", maxSkew, "Most pods a domain may hold above the emptiest one.",
      Range{1, 1'000'000}, Unit{"pods"}, Required{});
    v("topologyKey", topologyKey, "What a domain is: one node, or the nodes of one leaf switch.",
      Required{});
    v("whenUnsatisfiable", whenUnsatisfiable, "Filter such nodes out, or only rank them lower.",
      Required{});
  }
};

// Counts the pods of the job in hand: in Kubernetes' words, a constraint that selects by the job's
// label. It sees where pods are through Reserve, or PreFilterExtensions while a gang is placed, and
// when they leave through PodWatcher.
class PodTopologySpread final : public Policy,
                                public PreFilter,
                                public PreFilterExtensions,
                                public Filter,
                                public PreScore,
                                public Score,
                                public Reserve,
                                public EventHints,
                                public PodWatcher {
 public:
  struct Params {
    std::vector<ConstraintParams> defaultConstraints;
    template <class V>
    void fields(V& v) {
      v("defaultConstraints", defaultConstraints,
        "Hold for the pods of every job. Without any, the policy abstains.",
        Source{"empty: kube-scheduler 1.36 has no defaults for the pods of jobs"});
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
  PodTopologySpread(Handle& /*handle*/, const Params& params) {
    for (const ConstraintParams& c : params.defaultConstraints) {
      (c.whenUnsatisfiable == Unsatisfiable::DoNotSchedule ? hard_ : soft_).push_back({c, {}});
    }
  }

  Status pre_filter(const Cycle& cycle, NodeSet& /*nodes*/) override {
    if (hard_.empty()) return {Code::Skip};
    const NodeSet& eligible = find_eligible(cycle);
    for (Constraint& c : hard_) {
      count_pods(cycle, eligible, c);
      c.least = least_in_any_domain(cycle.cluster, eligible, c);
    }
    return {};
  }
  void filter(const Cycle& cycle, Candidates& nodes) const override {
    for (const Constraint& c : hard_) {
      const auto fits = [&](NodeId n) {
        return c.pods[domain_of(cycle.cluster, c, n)] + 1 - c.least <= c.params.maxSkew;
      };
      nodes.keep_if(fits, kSkewed);
    }
  }

  Status pre_score(const Cycle& cycle, std::span<const NodeId> feasible) override {
    if (soft_.empty()) return {Code::Skip};
    const NodeSet& eligible = find_eligible(cycle);
    for (Constraint& c : soft_) {
      count_pods(cycle, eligible, c);
      c.domains = count_domains(cycle.cluster, feasible, c);
    }
    return {};
  }
  void score(const Cycle& cycle, std::span<const NodeId> nodes,
             std::span<int64_t> scores) const override {
    for (size_t k = 0; k < nodes.size(); ++k) {
      double sum = 0;
      for (const Constraint& c : soft_) {
        sum +=
            spread_term(c.pods[domain_of(cycle.cluster, c, nodes[k])], c.domains, c.params.maxSkew);
      }
      scores[k] = spread_score(sum);
    }
  }
  void normalize(std::span<int64_t> scores) const override { normalize_spread(scores); }

  void add_pod(const PodView& pod, NodeId node) override {
    const size_t job = pod.job.index;
    if (job >= placed_.size()) placed_.resize(job + 1);
    placed_[job].push_back({pod.id, node});
  }
  void remove_pod(const PodView& pod) override { forget(pod); }
  Status reserve(const Cycle& cycle, NodeId node) override {
    add_pod(cycle.pod, node);
    return {};
  }
  void unreserve(const PodView& pod, NodeId /*node*/) override { forget(pod); }
  void pod_gone(const PodView& pod) override { forget(pod); }

  ClusterEvents events() const override {
    return bit_of(ClusterEventKind::AssignedPodDeleted) |
           bit_of(ClusterEventKind::AssignedPodAdded) | bit_of(ClusterEventKind::NodeAdded);
  }

 private:
  struct Constraint {
    ConstraintParams params;
    std::vector<int32_t> pods = {};  // by domain, of this cycle
    int32_t least = 0;
    int64_t domains = 0;
  };
  struct Placed {
    PodId pod;
    NodeId node;
  };

  static size_t domain_of(const ClusterState& cluster, const Constraint& c, NodeId n) {
    return c.params.topologyKey == TopologyKey::Hostname ? n.index : cluster.leaf(n);
  }
  // Nodes whose pods count: those the pod's own node affinity allows.
  const NodeSet& find_eligible(const Cycle& cycle) {
    if (cycle.pod.spec->required_terms.empty()) return cycle.cluster.up();
    eligible_ = required_.of(cycle.cluster, cycle.pod.spec_id, *cycle.pod.spec);
    eligible_ &= cycle.cluster.up();
    return eligible_;
  }
  void count_pods(const Cycle& cycle, const NodeSet& eligible, Constraint& c) const {
    const ClusterState& cluster = cycle.cluster;
    const bool by_node = c.params.topologyKey == TopologyKey::Hostname;
    c.pods.assign(by_node ? cluster.nodes() : cluster.leaves(), 0);
    if (cycle.pod.job.index >= placed_.size()) return;
    for (const Placed& placed : placed_[cycle.pod.job.index]) {
      if (eligible.contains(placed.node)) ++c.pods[domain_of(cluster, c, placed.node)];
    }
  }
  static int32_t least_in_any_domain(const ClusterState& cluster, const NodeSet& eligible,
                                     const Constraint& c) {
    int32_t least = INT32_MAX;
    eligible.for_each([&](NodeId n) { least = std::min(least, c.pods[domain_of(cluster, c, n)]); });
    return least == INT32_MAX ? 0 : least;
  }
  int64_t count_domains(const ClusterState& cluster, std::span<const NodeId> feasible,
                        const Constraint& c) {
    if (c.params.topologyKey == TopologyKey::Hostname) {
      return static_cast<int64_t>(feasible.size());
    }
    is_seen_.assign(cluster.leaves(), 0);
    for (const NodeId n : feasible) is_seen_[cluster.leaf(n)] = 1;
    return std::ranges::count(is_seen_, 1);
  }
  void forget(const PodView& pod) {
    if (pod.job.index >= placed_.size()) return;
    auto& placed = placed_[pod.job.index];
    const auto found = std::ranges::find(placed, pod.id, &Placed::pod);
    if (found == placed.end()) return;
    *found = placed.back();
    placed.pop_back();
  }

  std::vector<Constraint> hard_, soft_;
  std::vector<std::vector<Placed>> placed_;  // by JobId
  RequiredNodes required_;
  NodeSet eligible_;
  std::vector<uint8_t> is_seen_;  // by leaf
};
ORRERY_REGISTER_POLICY(PodTopologySpread, "PodTopologySpread",
                       "Spreads the pods of a job over nodes or leaf switches.");

}  // namespace
}  // namespace orrery
