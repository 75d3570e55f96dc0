// Required affinity and anti-affinity between pods; preferred terms are not modelled.
#include <algorithm>
#include <memory>
#include <optional>
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

enum class AffinityAlgorithm : uint8_t { Current, Before118 };
constexpr std::array<std::string_view, 2> enum_names(AffinityAlgorithm) {
  return {"current", "before_1_18"};
}

class InterPodAffinity final : public Policy,
                               public PreFilter,
                               public Filter,
                               public EventHints,
                               public Charges {
 public:
  using Members = PodGroup::Members;
  struct Params {
    AffinityAlgorithm algorithm = AffinityAlgorithm::Current;
    std::optional<Duration> per_node, per_pod;
    template <class V>
    void fields(V& v) {
      v("algorithm", algorithm,
        "The algorithm whose cost is charged. current: a pod with affinity terms is compared with "
        "all nodes and all placed pods. Any other pod is compared only with placed pods that have "
        "anti-affinity, and with their nodes. before_1_18: like current, but every pod is compared "
        "with all nodes. before_1_18 is the default with policy.cost.preset: kubernetes_1_15.");
      v("per_node", per_node,
        "Scheduler time for each node with which a pod is compared. Absent: the default for "
        "the chosen algorithm.",
        Range{Duration{}, 1_s},
        Source{"current: 2us, calibrated with per_pod; before_1_18: 3960ns, fitted to kubernetes "
               "pull request 79474"});
      v("per_pod", per_pod,
        "Scheduler time for each placed pod with which a pod is compared. Absent: the default "
        "for the chosen algorithm.",
        Range{Duration{}, 1_s},
        Source{"current: 2300ns, calibrated: with per_node it gives scheduler_perf's minimum rates "
               "on 5,000 nodes, 60 pods/s with anti-affinity and 35 pods/s with affinity; "
               "before_1_18: 1440ns, fitted like per_node"});
    }
  };
  static constexpr Traits kTraits = Trait::HeedsPodAffinity;
  InterPodAffinity(Handle& handle, const Params& params)
      : handle_{handle},
        algorithm_{params.algorithm},
        per_node_{params.per_node.value_or(is_old() ? Duration{3'960} : Duration{2'000})},
        per_pod_{params.per_pod.value_or(is_old() ? Duration{1'440} : Duration{2'300})},
        keeping_away_{handle.placements().count({.members = Members::AnyKeepingAway})} {}

  // ---- decisions
  Status pre_filter(const Cycle& cycle, NodeSet& /*nodes*/) const override {
    const Spec& spec = spec_of(cycle.pod);
    const auto is_any = [](const PodCounts* owners) { return owners->total > 0; };
    if (spec.has_terms() || std::ranges::any_of(spec.kept_away_by, is_any)) return {};
    return {Code::Skip};
  }
  void filter(const Cycle& cycle, Candidates& nodes) const override {
    const Spec& spec = spec_of(cycle.pod);
    const auto selects_any = [](const PodCounts* selected) { return selected->total > 0; };
    // The first pod of a group may go anywhere: the pod matches all its own affinity terms, and no
    // placed pod matches them.
    if (!spec.selects_itself || std::ranges::any_of(spec.near, selects_any)) {
      for (const PodCounts* const selected : spec.near) nodes.keep(selected->where, kNotNear);
    }
    for (const PodCounts* const selected : spec.away) nodes.drop(selected->where, kNotAway);
    for (const PodCounts* const owners : spec.kept_away_by) nodes.drop(owners->where, kKeptAway);
  }

  ClusterEvents events() const override {
    return bit_of(ClusterEventKind::AssignedPodDeleted) |
           bit_of(ClusterEventKind::AssignedPodAdded) | bit_of(ClusterEventKind::NodeAdded);
  }
  // A newly placed pod can help only pods with affinity terms. A deletion can help pods that
  // anti-affinity kept away. A deletion can also make a waiting pod the first pod of its group,
  // which may go anywhere: see filter().
  QueueHint hint(const PodView& pod, const ClusterEvent& event) const override {
    const bool is_helped =
        event.kind != ClusterEventKind::AssignedPodAdded || !pod.spec->affinity.empty();
    return is_helped ? QueueHint::Queue : QueueHint::Skip;
  }

  // ---- scheduler time
  Duration charge(const Cycle& cycle) const override {
    const bool has_terms = spec_of(cycle.pod).has_terms();
    const auto all = static_cast<int64_t>(cycle.cluster.up().count());
    const auto pods = static_cast<int64_t>(handle_.placements().pods());
    return per_node_ * (has_terms || is_old() ? all : keeping_away_.domains_with_any) +
           per_pod_ * (has_terms ? pods : keeping_away_.total);
  }

 private:
  struct Spec {  // counts of placed pods, from Placements
    // near: one for each affinity term of the spec; away: one for each anti-affinity term.
    std::vector<const PodCounts*> near, away;
    // One for each anti-affinity term, of any spec, that selects this spec.
    std::vector<const PodCounts*> kept_away_by;
    size_t terms_seen = 0;        // number of anti-affinity terms compared with this spec
    bool selects_itself = false;  // all affinity terms of the spec select pods of the spec itself
    bool has_terms() const { return !near.empty() || !away.empty(); }
  };
  struct Known {
    size_t specs_seen = 0;                     // number of specs whose terms are in `terms`
    std::vector<PodAffinityTerm> terms;        // distinct anti-affinity terms of all specs
    std::vector<std::unique_ptr<Spec>> specs;  // by SpecId
  };

  bool is_old() const { return algorithm_ == AffinityAlgorithm::Before118; }
  const PodCounts* count(const PodAffinityTerm& term, Members members,
                         const std::vector<NodeLabel>& labels) const {
    return &handle_.placements().count(
        {.topology_key = term.topology_key, .members = members, .labels = labels});
  }

  Spec first_look(const PodSpec& pod) const {
    Spec spec;
    // Affinity counts only placed pods that have the labels of all affinity terms.
    std::vector<NodeLabel> all;
    for (const PodAffinityTerm& term : pod.affinity) {
      for (const NodeLabel& label : term.match_labels) {
        if (std::ranges::find(all, label) == all.end()) all.push_back(label);
      }
    }
    for (const PodAffinityTerm& term : pod.affinity) {
      spec.near.push_back(count(term, Members::Labelled, all));
    }
    for (const PodAffinityTerm& term : pod.anti_affinity) {
      spec.away.push_back(count(term, Members::Labelled, term.match_labels));
    }
    spec.selects_itself = has_labels(pod, all);
    return spec;
  }

  // The counts for the pod's spec, which are cached. Each spec is compared only once with each
  // distinct anti-affinity term of all specs.
  const Spec& spec_of(const PodView& pod) const {
    Known& known = *known_;
    const SpecTable& table = handle_.specs();
    for (; known.specs_seen < table.size(); ++known.specs_seen) {
      const SpecId id{static_cast<uint32_t>(known.specs_seen)};
      for (const PodAffinityTerm& term : table[id].anti_affinity) {
        if (std::ranges::find(known.terms, term) == known.terms.end()) known.terms.push_back(term);
      }
    }
    if (known.specs.size() <= pod.spec_id.index) known.specs.resize(table.size());
    std::unique_ptr<Spec>& spec = known.specs[pod.spec_id.index];
    if (!spec) spec = std::make_unique<Spec>(first_look(*pod.spec));
    for (; spec->terms_seen < known.terms.size(); ++spec->terms_seen) {
      const PodAffinityTerm& term = known.terms[spec->terms_seen];
      if (!has_labels(*pod.spec, term.match_labels)) continue;
      spec->kept_away_by.push_back(count(term, Members::KeepingAway, term.match_labels));
    }
    return *spec;
  }

  const Handle& handle_;
  const AffinityAlgorithm algorithm_;
  const Duration per_node_, per_pod_;
  const PodCounts& keeping_away_;  // pods with any anti-affinity
  Cached<Known> known_;
};
ORRERY_REGISTER_POLICY(InterPodAffinity, "InterPodAffinity",
                       "Keeps pods near pods with certain labels, or away from them.");

}  // namespace
}  // namespace orrery
