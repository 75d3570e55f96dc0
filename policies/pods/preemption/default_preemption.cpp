// Evicts pods of lower priority for a pod that fits on no node, like kube-scheduler's
// DefaultPreemption. PodDisruptionBudgets are not respected.
#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "models/facts/fact.hpp"
#include "models/scheduling/contract/policy_registry.hpp"

namespace orrery {
namespace {

constexpr Status kOfPreFilter{Code::Unschedulable, "pods that leave would not help"};
constexpr Status kNobodyLower{Code::Unschedulable, "no pod of lower priority is there"};
constexpr Status kWaits{Code::Unschedulable, "pods on the nominated node are about to leave"};
constexpr Status kInVain{Code::Unschedulable, "no preemption victims found"};

enum class PreemptionAlgorithm : uint8_t { Current, Before120 };
constexpr std::array<std::string_view, 2> enum_names(PreemptionAlgorithm) {
  return {"current", "before_1_20"};
}

class DefaultPreemption final : public Policy, public PostFilter {
 public:
  struct Params {
    int32_t minCandidateNodesPercentage = 10, minCandidateNodesAbsolute = 100;
    PreemptionAlgorithm algorithm = PreemptionAlgorithm::Current;
    bool async = true;
    Duration per_node{1'040}, per_pod{430};
    template <class V>
    void fields(V& v) {
      v("minCandidateNodesPercentage", minCandidateNodesPercentage,
        "How many candidate nodes to find, as a share of the nodes where preemption might help.",
        Range{0, 100}, Unit{"percent"}, Source{"kube-scheduler"},
        Heeded{algorithm == PreemptionAlgorithm::Current, "algorithm is before_1_20"});
      v("minCandidateNodesAbsolute", minCandidateNodesAbsolute,
        "Least number of candidate nodes to find.", Range{0, 1'000'000}, Unit{"nodes"},
        Source{"kube-scheduler"},
        Heeded{algorithm == PreemptionAlgorithm::Current, "algorithm is before_1_20"});
      v("algorithm", algorithm,
        "current: after a preemption, the pod is tried on its nominated node first. before_1_20: "
        "the pod is tried on all nodes, and every node where preemption might help is a candidate.",
        Source{"kubernetes pull requests 94814 and 93179"});
      v("async", async,
        "true: the scheduler continues with other pods while the API servers delete victims. "
        "false: the cycle waits for the responses to all deletions.",
        Source{"SchedulerAsyncPreemption, on since Kubernetes 1.33"}, Heeded{Fact::ControlPlane});
      v("per_node", per_node,
        "Scheduler time for each node where preemption might help. Nothing is charged if no pod of "
        "lower priority is placed anywhere.",
        Range{Duration{}, 1_s}, Source{"calibrated together with per_pod"});
      v("per_pod", per_pod, "Scheduler time for each pod of lower priority on the examined nodes.",
        Range{Duration{}, 1_s},
        Source{"calibrated: on 5,000 nodes of 4 pods each, preemption takes 30.2 ms with 500 "
               "candidates and 38.0 ms with 5,000 (kubernetes pull request 94814). Four fifths of "
               "the 30.2 ms are the deletion of 3 pods (pull request 128170), which is not "
               "part of these costs"});
    }
    void check(Checker& c) const {
      if (algorithm == PreemptionAlgorithm::Current && minCandidateNodesPercentage == 0 &&
          minCandidateNodesAbsolute == 0) {
        c.error("minCandidateNodesAbsolute", "must not be 0 where the percentage is 0, too");
      }
    }
  };
  static constexpr Traits kTraits = Trait::Preempts;
  static constexpr Fact kHeeded = Fact::Priorities;
  DefaultPreemption(Handle& handle, const Params& params)
      : params_{params}, handle_{handle}, preemption_{handle.preemption()} {}

  bool reads_candidates(const PodView& pod) const override {
    return preemption_ != nullptr && pod.spec->may_preempt &&
           preemption_->is_above_any(pod.spec->priority);
  }
  Duration charge(const CycleState& state) const override {
    const auto* const spent = state.find<Spent>(*this);
    return spent == nullptr ? Duration{} : spent->time;
  }

  Status post_filter(const Cycle& cycle, const Diagnosis& diagnosis) override {
    Duration& spent = cycle.state.of<Spent>(*this).time;
    spent = {};
    const PodView& pod = cycle.pod;
    if (preemption_ == nullptr) return kNobodyLower;
    if (!reads_candidates(pod)) return give_up(pod, kNobodyLower);
    if (!diagnosis.pre_filter_reason.empty()) return give_up(pod, kOfPreFilter);
    NodeSet helpful = cycle.cluster.up();
    helpful -= diagnosis.candidates.unresolvable();
    const NodeId nominated = preemption_->nominated_node(pod.id);
    if (nominated.is_valid() && helpful.contains(nominated) && is_about_to_leave(pod, nominated)) {
      return kWaits;
    }
    const std::vector<NodeId> nodes =
        round_from_anywhere(helpful, cycle.state.rng("scheduling.preemption"));
    spent += params_.per_node * static_cast<int64_t>(nodes.size());
    const std::vector<Candidate> candidates = find_candidates(cycle, nodes, spent);
    if (candidates.empty()) return give_up(pod, kInVain);
    const Candidate& best =
        *std::ranges::min_element(candidates, {}, [](const Candidate& c) { return cost_of(c); });
    clear_nominations(pod, best.node);
    handle_.nominate(pod.id, best.node, params_.algorithm == PreemptionAlgorithm::Current);
    std::vector<PodId> victims;
    for (const PlacedPod& victim : best.victims) victims.push_back(victim.id);
    handle_.evict(pod.id, std::move(victims), !params_.async);
    return {};
  }

 private:
  struct Spent : CycleData {
    Duration time;
  };
  struct Candidate {
    NodeId node;
    std::vector<PlacedPod> lower = {}, victims = {};  // more important pods first
  };

  Status give_up(const PodView& pod, Status why) {
    handle_.withdraw(pod.id);
    return why;
  }
  std::vector<PlacedPod> lower_on(NodeId node, int32_t priority) const {
    std::vector<PlacedPod> pods;
    if (!preemption_->is_above_any_on(node, priority)) return pods;
    preemption_->placed_on(node, pods);
    std::erase_if(pods, [&](const PlacedPod& p) { return p.priority >= priority; });
    return pods;
  }
  bool is_about_to_leave(const PodView& pod, NodeId node) const {
    return std::ranges::any_of(lower_on(node, pod.spec->priority), &PlacedPod::is_leaving);
  }

  std::vector<NodeId> round_from_anywhere(const NodeSet& nodes, Rng& rng) const {
    std::vector<NodeId> circle;
    nodes.for_each([&](NodeId n) { circle.push_back(n); });
    if (circle.empty()) return circle;
    std::ranges::rotate(circle,
                        circle.begin() + static_cast<std::ptrdiff_t>(rng.below(circle.size())));
    return circle;
  }

  size_t candidates_to_find(size_t nodes) const {
    if (params_.algorithm == PreemptionAlgorithm::Before120) return nodes;
    const auto share = nodes * static_cast<size_t>(params_.minCandidateNodesPercentage) / 100;
    return std::min(nodes, std::max(share, static_cast<size_t>(params_.minCandidateNodesAbsolute)));
  }

  std::vector<Candidate> find_candidates(const Cycle& cycle, std::span<const NodeId> nodes,
                                         Duration& spent) const {
    std::vector<Candidate> candidates, batch;
    const size_t wanted = candidates_to_find(nodes.size());
    const std::unique_ptr<WhatIf> trial = preemption_->what_if(cycle);
    const size_t together = trial->is_node_local() ? wanted : 1;
    for (size_t i = 0; i < nodes.size() && candidates.size() < wanted;) {
      batch.clear();
      const size_t most = std::min(together, wanted - candidates.size());
      for (; i < nodes.size() && batch.size() < most; ++i) {
        std::vector<PlacedPod> lower = lower_on(nodes[i], cycle.pod.spec->priority);
        if (lower.empty()) continue;
        spent += params_.per_pod * static_cast<int64_t>(lower.size());
        batch.push_back({.node = nodes[i], .lower = std::move(lower)});
      }
      choose_victims(*trial, cycle.cluster.nodes(), batch);
      std::ranges::move(batch, std::back_inserter(candidates));
    }
    return candidates;
  }

  // Keeps the nodes of the batch on which the preemptor fits without any pod of lower priority.
  // Then restores the pods of lower priority, the most important first. If the preemptor does not
  // fit beside a restored pod, this pod is evicted again and becomes a victim.
  static void choose_victims(WhatIf& trial, size_t nodes, std::vector<Candidate>& batch) {
    NodeSet all{nodes};
    for (const Candidate& c : batch) {
      for (const PlacedPod& p : c.lower) trial.evict(p.id);
      all.insert(c.node);
    }
    const NodeSet helped = trial.feasible(all);
    std::erase_if(batch, [&](const Candidate& c) {
      if (helped.contains(c.node)) return false;
      for (const PlacedPod& p : c.lower) trial.restore(p.id);
      return true;
    });
    for (size_t k = 0;; ++k) {
      NodeSet asked{nodes};
      for (const Candidate& c : batch) {
        if (k >= c.lower.size()) continue;
        trial.restore(c.lower[k].id);
        asked.insert(c.node);
      }
      if (asked.empty()) break;
      const NodeSet still = trial.feasible(asked);
      for (Candidate& c : batch) {
        if (k >= c.lower.size() || still.contains(c.node)) continue;
        c.victims.push_back(c.lower[k]);
        trial.evict(c.lower[k].id);
      }
    }
    for (const Candidate& c : batch) {
      for (const PlacedPod& p : c.victims) trial.restore(p.id);
    }
    std::erase_if(batch, [](const Candidate& c) { return c.victims.empty(); });
  }

  // The cost of a candidate. Its four parts are compared in order: the highest priority of a
  // victim, the sum of the victims' priorities, the number of victims, and the longest time that a
  // victim of the highest priority has been on the node. Each summed priority is raised by 2^31, so
  // that a further victim never lowers the sum. Of equally cheap candidates, the first is taken.
  static std::tuple<int32_t, int64_t, size_t, int64_t> cost_of(const Candidate& c) {
    const int32_t highest = c.victims.front().priority;
    int64_t sum = 0;
    Time earliest = Time::max();
    for (const PlacedPod& p : c.victims) {
      sum += int64_t{p.priority} + (int64_t{1} << 31);
      if (p.priority == highest) earliest = std::min(earliest, p.since);
    }
    return {highest, sum, c.victims.size(), -earliest.ns};
  }

  // Pods of lower priority that were nominated to the node lose their nomination.
  void clear_nominations(const PodView& pod, NodeId node) {
    std::vector<PodId> there;
    preemption_->nominated_on(node, there);
    for (const PodId other : there) {
      if (handle_.pod(other).spec->priority < pod.spec->priority) handle_.withdraw(other);
    }
  }

  Params params_;
  Handle& handle_;
  const Preemption* preemption_;  // null with driver: counting
};
ORRERY_REGISTER_POLICY(DefaultPreemption, "DefaultPreemption",
                       "Preempts pods of lower priority for a pod that fits on no node.");

}  // namespace
}  // namespace orrery
