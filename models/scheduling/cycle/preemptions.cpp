#include "models/scheduling/cycle/preemptions.hpp"

#include <algorithm>
#include <unordered_map>

#include "sim/core/check.hpp"

namespace orrery {
namespace {

// Evicts pods from the cluster state and from Placements. The destructor undoes all evictions.
class EvictedForTrial final : public WhatIf {
 public:
  EvictedForTrial(const SchedulerContext& context, const Cycle& cycle)
      : context_{context}, cycle_{cycle}, savepoint_{context.transaction} {
    context_.cluster.hypothesise(true);
  }
  EvictedForTrial(const EvictedForTrial&) = delete;
  EvictedForTrial& operator=(const EvictedForTrial&) = delete;
  ~EvictedForTrial() override {
    savepoint_.end();
    context_.cluster.hypothesise(false);
  }

  void evict(PodId pod) override {
    const Placed& placed = context_.placements.of(pod);
    ORRERY_CHECK(placed.node.is_valid(), "only a placed pod is evicted");
    Tried& tried = tried_[pod.index];
    if (!tried.pod.id.is_valid()) tried = {.pod = context_.tracks.pod(pod), .placed = placed};
    tried.is_out = true;
    context_.transaction.evict(tried.pod);
  }
  void restore(PodId pod) override {
    Tried& tried = tried_[pod.index];
    ORRERY_CHECK(tried.is_out, "only an evicted pod is restored");
    tried.is_out = false;
    const Placed& placed = tried.placed;
    context_.transaction.place(tried.pod, placed.node, placed.grant, placed.since);
  }
  NodeSet feasible(const NodeSet& nodes) override {
    return context_.profile.framework->feasible(cycle_, nodes);
  }
  bool is_node_local() const override {
    return context_.profile.framework->decides_node_by_node(cycle_.state);
  }

 private:
  struct Tried {
    PodView pod;
    Placed placed;  // the place to which restore() returns the pod
    bool is_out = false;
  };
  const SchedulerContext& context_;
  const Cycle& cycle_;
  Transaction::Savepoint savepoint_;
  std::unordered_map<uint32_t, Tried> tried_;  // by PodId; for lookup only, never iterated
};

}  // namespace

bool Preemptions::is_above_any(int32_t priority) const {
  const std::optional<int32_t> lowest = context_.placements.lowest_priority();
  return lowest && *lowest < priority;
}

bool Preemptions::is_above_any_on(NodeId node, int32_t priority) const {
  const std::optional<int32_t> lowest = context_.placements.lowest_priority_on(node);
  return lowest && *lowest < priority;
}

void Preemptions::placed_on(NodeId node, std::vector<PlacedPod>& pods) const {
  ORRERY_CHECK(node.index < context_.cluster.nodes(), "there is such a node");
  const auto first = static_cast<std::ptrdiff_t>(pods.size());
  for (const PodId pod : context_.placements.on_node(node)) {
    const Placed& placed = context_.placements.of(pod);
    pods.push_back({pod, placed.priority, placed.since, context_.evictions.is_leaving(pod)});
  }
  std::ranges::sort(pods.begin() + first, pods.end(), [](const PlacedPod& a, const PlacedPod& b) {
    if (a.priority != b.priority) return a.priority > b.priority;
    return a.since != b.since ? a.since < b.since : a.id < b.id;
  });
}

std::unique_ptr<WhatIf> Preemptions::what_if(const Cycle& cycle) const {
  return std::make_unique<EvictedForTrial>(context_, cycle);
}

std::unique_ptr<GangWhatIf> Preemptions::gang_what_if(const Cycle& cycle) const {
  return gangs_->gang_what_if(cycle);
}

// ---- nominations

void Preemptions::nominated_on(NodeId node, std::vector<PodId>& pods) const {
  for (const auto& n : nominations_.on(node)) pods.push_back(n.pod);
}

void Preemptions::nominate(PodId pod, NodeId node, bool is_tried_first) {
  ORRERY_CHECK(node.index < context_.cluster.nodes(), "there is such a node");
  const PodSpec& spec = context_.jobs.spec(pod);
  const bool is_whole = context_.profile.driver == Driver::PerGang;
  nominations_.set({.pod = pod,
                    .priority = spec.priority,
                    .asked = spec.requests(),
                    .whole_gpus = spec.gpu_milli == kMilli ? spec.gpus : 0,
                    .is_tried_first = is_tried_first,
                    .gang = is_whole ? context_.jobs.pod(pod).gang : GangId{}},
                   node);
  if (api_ != nullptr) api_->nominated(pod);
}

void Preemptions::withdraw(PodId pod) {
  if (!nominations_.node_of(pod).is_valid()) return;
  nominations_.clear(pod);
  withdrawn.emit(pod);
}

void Preemptions::stays(PodId victim, PodId preemptor) {
  std::vector<PodId> waiting;
  nominated_on(context_.placements.node_of(victim), waiting);
  for (const PodId other : waiting) {
    if (context_.jobs.spec(other).priority > context_.jobs.spec(victim).priority) withdraw(other);
  }
  if (preemptor.is_valid()) withdraw(preemptor);
}

}  // namespace orrery
