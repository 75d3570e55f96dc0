// Keeps pods near pods with certain labels, or away from them: required terms alone.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "models/scheduling/contract/policy_registry.hpp"
#include "sim/core/check.hpp"

namespace orrery {
namespace {

constexpr Status kNotNear{Code::UnschedulableAndUnresolvable,
                          "node(s) didn't match pod affinity rules"};
constexpr Status kNotAway{Code::Unschedulable, "node(s) didn't match pod anti-affinity rules"};
constexpr Status kKeptAway{Code::Unschedulable,
                           "node(s) didn't satisfy existing pods anti-affinity rules"};

enum class Algorithm : uint8_t { Current, Before118 };
constexpr std::array<std::string_view, 2> enum_names(Algorithm) {
  return {"current", "before_1_18"};
}

// A selector within domains of one kind, and how many pods it selects in each, or how many keep the
// selected ones away from there. The nodes of domains with any are a set, so that a filter costs no
// more than a few words.
struct Counts {
  explicit Counts(size_t domains, size_t nodes) : pods(domains), where{nodes} {}
  std::vector<int32_t> pods;
  NodeSet where;
  int64_t total = 0;
};
struct Term {
  PodAffinityTerm term;
  Counts selected, owners;  // owners: pods that have it as an anti-affinity
};

class InterPodAffinity final : public Policy,
                               public PreFilter,
                               public PreFilterExtensions,
                               public Filter,
                               public Reserve,
                               public EventHints,
                               public PodWatcher,
                               public Charges {
 public:
  struct Params {
    Algorithm algorithm = Algorithm::Current;
    std::optional<Duration> per_node, per_pod;
    template <class V>
    void fields(V& v) {
      v("algorithm", algorithm,
        "What it costs. current: pods with terms are held against all nodes and pods, others "
        "against pods with anti-affinity and their nodes. before_1_18: others against all nodes, "
        "too, with the constants of 2019. Default with policy.cost.preset: kubernetes_1_15.");
      v("per_node", per_node, "Scheduler time for each of these nodes.", Range{Duration{}, 1_s},
        Source{"2us, calibrated with per_pod; before_1_18: 3960ns, fitted to kubernetes pull "
               "request 79474"});
      v("per_pod", per_pod, "Scheduler time for each of these pods.", Range{Duration{}, 1_s},
        Source{"2300ns, calibrated: with per_node the floors of scheduler_perf, 60 and 35 pods/s "
               "of 5,000 nodes with anti-affinity and affinity; before_1_18: 1440ns, as per_node"});
    }
  };
  InterPodAffinity(Handle& handle, const Params& params)
      : handle_{handle},
        algorithm_{params.algorithm},
        per_node_{params.per_node.value_or(is_old() ? Duration{3'960} : Duration{2'000})},
        per_pod_{params.per_pod.value_or(is_old() ? Duration{1'440} : Duration{2'300})},
        keeping_away_(handle.cluster().nodes()) {}

  // ---- decisions
  Status pre_filter(const Cycle& cycle, NodeSet& /*nodes*/) override {
    const Spec& spec = spec_of(cycle.pod);
    const bool has_terms = !spec.near.empty() || !spec.away.empty();
    const auto has_owners = [this](size_t t) { return terms_[t].owners.total > 0; };
    if (has_terms || std::ranges::any_of(spec.selected_by, has_owners)) return {};
    return {Code::Skip};
  }
  void filter(const Cycle& cycle, Candidates& nodes) const override {
    const Spec& spec = specs_[cycle.pod.spec_id.index];
    const auto selects_any = [this](size_t t) { return terms_[t].selected.total > 0; };
    // The first of pods that want to be near one another goes anywhere.
    if (!spec.selects_itself || std::ranges::any_of(spec.near, selects_any)) {
      for (const size_t t : spec.near) nodes.keep(terms_[t].selected.where, kNotNear);
    }
    for (const size_t t : spec.away) nodes.drop(terms_[t].selected.where, kNotAway);
    for (const size_t t : spec.selected_by) {
      if (terms_[t].owners.total > 0) nodes.drop(terms_[t].owners.where, kKeptAway);
    }
  }

  // ---- where pods are
  Status reserve(const Cycle& cycle, NodeId node) override {
    add_pod(cycle.pod, node);
    return {};
  }
  void unreserve(const PodView& pod, NodeId /*node*/) override { remove_pod(pod); }
  void pod_gone(const PodView& pod) override { remove_pod(pod); }
  void add_pod(const PodView& pod, NodeId node) override {
    spec_of(pod);
    if (pod.id.index >= placed_.size()) placed_.resize(pod.id.index + 1);
    ORRERY_CHECK(!placed_[pod.id.index].node.is_valid(), "a pod is in one place at a time");
    placed_[pod.id.index] = {pod.spec_id, node};
    count(pod.spec_id, node, 1);
  }
  void remove_pod(const PodView& pod) override {
    if (pod.id.index >= placed_.size()) return;
    const Placed placed = std::exchange(placed_[pod.id.index], {});
    if (placed.node.is_valid()) count(placed.spec, placed.node, -1);
  }

  ClusterEvents events() const override {
    return bit_of(ClusterEventKind::AssignedPodDeleted) |
           bit_of(ClusterEventKind::AssignedPodAdded) | bit_of(ClusterEventKind::NodeAdded);
  }
  // A pod that came helps only those that want to be near it; one that left those kept away by it,
  // or the first of a kind that may then go anywhere.
  QueueHint hint(const PodView& pod, const ClusterEvent& event) const override {
    const bool is_helped =
        event.kind != ClusterEventKind::AssignedPodAdded || !pod.spec->affinity.empty();
    return is_helped ? QueueHint::Queue : QueueHint::Skip;
  }

  // ---- what it costs
  Duration charge(const Cycle& cycle) const override {
    const Spec& spec = specs_[cycle.pod.spec_id.index];
    const bool has_terms = !spec.near.empty() || !spec.away.empty();
    const auto all = static_cast<int64_t>(cycle.cluster.up().count());
    return per_node_ * (has_terms || is_old() ? all : nodes_keeping_away_) +
           per_pod_ * (has_terms ? pods_ : pods_keeping_away_);
  }

 private:
  struct Spec {
    bool is_known = false;
    size_t terms_seen = 0;  // of all terms, those it was compared with
    std::vector<size_t> near = {}, away = {}, selected_by = {};
    bool selects_itself = false;  // by all terms of its affinity
  };
  struct Placed {
    SpecId spec;
    NodeId node;
  };

  bool is_old() const { return algorithm_ == Algorithm::Before118; }
  static bool selects(const PodAffinityTerm& term, const PodSpec& spec) {
    return std::ranges::all_of(term.match_labels, [&](const NodeLabel& label) {
      return std::ranges::find(spec.labels, label) != spec.labels.end();
    });
  }
  size_t domain_of(const PodAffinityTerm& term, NodeId n) const {
    return term.topology_key == PodTopology::Hostname ? n.index : handle_.cluster().leaf(n);
  }

  // Of an affinity a pod counts that all terms select.
  static std::vector<PodAffinityTerm> near_terms(const PodSpec& spec) {
    std::vector<NodeLabel> all;
    for (const PodAffinityTerm& term : spec.affinity) {
      for (const NodeLabel& label : term.match_labels) {
        if (std::ranges::find(all, label) == all.end()) all.push_back(label);
      }
    }
    std::vector<PodAffinityTerm> terms;
    for (const PodAffinityTerm& term : spec.affinity) terms.push_back({term.topology_key, all});
    return terms;
  }

  size_t intern(const PodAffinityTerm& term) {
    const auto known = std::ranges::find(terms_, term, &Term::term);
    if (known != terms_.end()) return static_cast<size_t>(known - terms_.begin());
    const ClusterState& cluster = handle_.cluster();
    const size_t domains =
        term.topology_key == PodTopology::Hostname ? cluster.nodes() : cluster.leaves();
    const Counts none{domains, cluster.nodes()};
    terms_.push_back({term, none, none});
    // Pods that came before anybody asked for them.
    const SpecTable& specs = handle_.specs();
    for (const Placed& placed : placed_) {
      if (!placed.node.is_valid() || !selects(term, specs[placed.spec])) continue;
      count(terms_.back(), terms_.back().selected, placed.node, 1);
    }
    return terms_.size() - 1;
  }

  const Spec& spec_of(const PodView& pod) {
    if (pod.spec_id.index >= specs_.size()) specs_.resize(pod.spec_id.index + 1);
    if (!specs_[pod.spec_id.index].is_known) {
      Spec spec{.is_known = true};
      for (const PodAffinityTerm& term : near_terms(*pod.spec)) spec.near.push_back(intern(term));
      for (const PodAffinityTerm& term : pod.spec->anti_affinity) {
        const size_t t = intern(term);
        if (std::ranges::find(spec.away, t) == spec.away.end()) spec.away.push_back(t);
      }
      spec.selects_itself = std::ranges::all_of(
          spec.near, [&](size_t t) { return selects(terms_[t].term, *pod.spec); });
      specs_[pod.spec_id.index] = std::move(spec);
    }
    look_at_terms(pod.spec_id, *pod.spec);
    return specs_[pod.spec_id.index];
  }
  void look_at_terms(SpecId id, const PodSpec& pod) {
    Spec& spec = specs_[id.index];
    for (; spec.terms_seen < terms_.size(); ++spec.terms_seen) {
      if (selects(terms_[spec.terms_seen].term, pod)) spec.selected_by.push_back(spec.terms_seen);
    }
  }

  void count(const Term& term, Counts& counts, NodeId node, int32_t by) const {
    int32_t& pods = counts.pods[domain_of(term.term, node)];
    const bool had_any = pods > 0;
    pods += by;
    counts.total += by;
    if (had_any == (pods > 0)) return;
    if (term.term.topology_key == PodTopology::Hostname) return counts.where.assign(node, pods > 0);
    const ClusterState& cluster = handle_.cluster();
    for (const NodeId n : cluster.in_leaf(cluster.leaf(node))) counts.where.assign(n, pods > 0);
  }
  void count(SpecId id, NodeId node, int32_t by) {
    look_at_terms(id, handle_.specs()[id]);
    const Spec& spec = specs_[id.index];
    for (const size_t t : spec.selected_by) count(terms_[t], terms_[t].selected, node, by);
    for (const size_t t : spec.away) count(terms_[t], terms_[t].owners, node, by);
    pods_ += by;
    if (spec.away.empty()) return;
    pods_keeping_away_ += by;
    int32_t& here = keeping_away_[node.index];
    const bool had_any = here > 0;
    here += by;
    nodes_keeping_away_ += static_cast<int64_t>(here > 0) - static_cast<int64_t>(had_any);
  }

  Handle& handle_;
  Algorithm algorithm_;
  Duration per_node_, per_pod_;
  std::vector<Term> terms_;
  std::vector<Spec> specs_;     // by SpecId
  std::vector<Placed> placed_;  // by PodId
  int64_t pods_ = 0, pods_keeping_away_ = 0, nodes_keeping_away_ = 0;
  std::vector<int32_t> keeping_away_;  // by node
};
ORRERY_REGISTER_POLICY(InterPodAffinity, "InterPodAffinity",
                       "Keeps pods near pods with certain labels, or away from them.");

}  // namespace
}  // namespace orrery
