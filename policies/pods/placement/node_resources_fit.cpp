// Nodes with room for the pod's request, scored by how full they would be.
#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "models/scheduling/contract/policy_registry.hpp"
#include "models/scheduling/toolbox/scoring.hpp"

namespace orrery {
namespace {

enum class Strategy : uint8_t { LeastAllocated, MostAllocated, RequestedToCapacityRatio };
constexpr std::array<std::string_view, 3> enum_names(Strategy) {
  return {"LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"};
}

// Which pod deletions trigger a retry of a pod that found no room.
enum class DeletedPodHint : uint8_t { Any, Fits };
constexpr std::array<std::string_view, 2> enum_names(DeletedPodHint) { return {"any", "fits"}; }

constexpr std::array kOrder{Resource::Pods, Resource::Cpu, Resource::Memory, Resource::Gpu,
                            Resource::Nic};  // upstream's order of checks

constexpr std::string_view reason_of(Resource resource) {
  switch (resource) {
    case Resource::Cpu:
      return "Insufficient cpu";
    case Resource::Memory:
      return "Insufficient memory";
    case Resource::Gpu:
      return "Insufficient nvidia.com/gpu";
    case Resource::Nic:
      return "Insufficient rdma/nic";
    case Resource::Pods:
      break;
  }
  return "Too many pods";
}

struct ShapeParams {
  int32_t utilization = 0;
  int32_t score = 0;
  template <class V>
  void fields(V& v) {
    v("utilization", utilization, "Utilization of the resource, the pod included.", Range{0, 100},
      Unit{"percent"}, Required{});
    v("score", score, "Score at this utilization. Between points, scores are linear.", Range{0, 10},
      Required{});
  }
};
struct RatioParams {
  std::vector<ShapeParams> shape;
  template <class V>
  void fields(V& v) {
    v("shape", shape, "Points of the scoring function, by ascending utilization.");
  }
  void check(Checker& checker) const {
    for (size_t i = 1; i < shape.size(); ++i) {
      if (shape[i].utilization > shape[i - 1].utilization) continue;
      checker.error("shape", "utilization must rise from point to point");
      return;
    }
  }
};
struct WeightParams {
  Resource name = Resource::Cpu;
  int32_t weight = 1;
  template <class V>
  void fields(V& v) {
    v("name", name, "The resource.", Required{});
    v("weight", weight, "Weight of the resource in the average.", Range{1, 100},
      Source{"kube-scheduler 1.36"});
  }
};
struct StrategyParams {
  Strategy type = Strategy::LeastAllocated;
  std::vector<WeightParams> resources{{Resource::Cpu, 1}, {Resource::Memory, 1}};
  RatioParams requestedToCapacityRatio;
  template <class V>
  void fields(V& v) {
    v("type", type,
      "LeastAllocated: prefers emptier nodes; MostAllocated: prefers fuller nodes; "
      "RequestedToCapacityRatio: scores by `shape`.",
      Source{"kube-scheduler 1.36"});
    v("resources", resources,
      "Resources whose scores are averaged. Extended resources count only for pods that request "
      "them.",
      Source{"kube-scheduler 1.36"});
    v("requestedToCapacityRatio", requestedToCapacityRatio,
      "Used only with type: RequestedToCapacityRatio.");
  }
  void check(Checker& checker) const {
    const bool has_shape = !requestedToCapacityRatio.shape.empty();
    if (has_shape != (type == Strategy::RequestedToCapacityRatio)) {
      checker.error("requestedToCapacityRatio",
                    has_shape ? "has an effect only with type RequestedToCapacityRatio"
                              : "must have a shape of at least one point");
    }
    if (resources.empty()) checker.error("resources", "must name at least one resource");
    for (size_t i = 0; i < resources.size(); ++i) {
      if (resources[i].name == Resource::Pods) {
        checker.error("resources", "pods cannot be scored");
      }
      for (size_t k = 0; k < i; ++k) {
        if (resources[k].name == resources[i].name) {
          checker.error("resources", "names a resource twice");
        }
      }
    }
  }
};

// The request of one pod, and whether a node has room for it.
class Ask {
 public:
  Ask(const ClusterState& cluster, const PodSpec& spec)
      : cluster_{cluster}, spec_{spec}, want_{spec.requests()} {
    if (spec.gpus > 0 && spec.gpus <= static_cast<int32_t>(kGpusPerNodeMax)) {
      enough_idle_ = &cluster.with_idle_gpus(static_cast<uint32_t>(spec.gpus));
    }
  }
  int64_t want(Resource r) const { return want_[r]; }
  // Whether the node has too little of the resource now.
  bool is_short(NodeId n, Resource r) const {
    if (want_[r] == 0) return false;
    if (r != Resource::Gpu) return want_[r] > cluster_.free(n, r);
    // A share must fit on one GPU: free parts of several GPUs do not add up.
    if (spec_.gpu_milli < kMilli) return cluster_.gpu_left_milli_max(n) < spec_.gpu_milli;
    return enough_idle_ == nullptr || !enough_idle_->contains(n);
  }
  // Whether the node would have too little of the resource even if it were empty.
  bool is_never_enough(NodeId n, Resource r) const {
    if (want_[r] == 0) return false;
    if (r != Resource::Gpu) return want_[r] > cluster_.allocatable(n, r);
    return spec_.gpus > static_cast<int32_t>(cluster_.gpus(n));
  }
  template <class Test>
  static bool any(Test&& test) {
    return std::ranges::any_of(kOrder, test);
  }

 private:
  const ClusterState& cluster_;
  const PodSpec& spec_;
  Resources want_;
  const NodeSet* enough_idle_ = nullptr;
};

class NodeResourcesFit final : public Policy, public Filter, public Score, public EventHints {
 public:
  struct Params {
    StrategyParams scoringStrategy;
    DeletedPodHint deletedPodHint = DeletedPodHint::Any;
    template <class V>
    void fields(V& v) {
      v("scoringStrategy", scoringStrategy, "How the feasible nodes are ranked.");
      v("deletedPodHint", deletedPodHint,
        "Which deletions of pods requeue a pod that found no room. any: all deletions; fits: only "
        "deletions that make room for the rejected pod on the node of the deleted pod. `fits` "
        "avoids futile attempts in a full cluster.",
        Source{"kube-scheduler 1.36"});
    }
  };
  static constexpr Traits kTraits = Trait::ChecksRoom;
  NodeResourcesFit(Handle& handle, const Params& params)
      : handle_{handle}, params_{params}, strategy_{params_.scoringStrategy} {
    for (const ShapeParams& point : strategy_.requestedToCapacityRatio.shape) {
      shape_.push_back({point.utilization, point.score * (kNodeScoreMax / 10)});
    }
  }

  // A node may be short of several resources. The first shortage removes the node, and the others
  // are only noted as further reasons. Shortages that no eviction can cure come first, so that they
  // decide the status.
  void filter(const Cycle& cycle, Candidates& nodes) const override {
    learn(cycle.cluster);
    const Ask ask{cycle.cluster, *cycle.pod.spec};
    std::array<uint32_t, kResources> also{};
    const auto note_others = [&](NodeId n, Resource counted) {
      for (const Resource r : kOrder) {
        if (r != counted && ask.is_short(n, r)) ++also[static_cast<size_t>(r)];
      }
      return false;
    };
    for (const Resource r : kOrder) {
      if (ask.want(r) <= least_->allocatable[r]) continue;
      nodes.keep_if([&](NodeId n) { return !ask.is_never_enough(n, r) || note_others(n, r); },
                    {Code::UnschedulableAndUnresolvable, reason_of(r)});
    }
    for (const Resource r : kOrder) {
      if (ask.want(r) == 0) continue;
      nodes.keep_if([&](NodeId n) { return !ask.is_short(n, r) || note_others(n, r); },
                    {Code::Unschedulable, reason_of(r)});
    }
    for (const Resource r : kOrder) {
      nodes.note({Code::Unschedulable, reason_of(r)}, also[static_cast<size_t>(r)]);
    }
  }

  void score(const Cycle& cycle, std::span<const NodeId> nodes,
             std::span<int64_t> scores) const override {
    const ClusterState::Request request = cycle.pod.spec->cluster_request();
    switch (strategy_.type) {
      case Strategy::LeastAllocated:
        return rank(cycle.cluster, request, nodes, scores, least_requested_score, false);
      case Strategy::MostAllocated:
        return rank(cycle.cluster, request, nodes, scores, most_requested_score, false);
      case Strategy::RequestedToCapacityRatio:
        break;
    }
    const auto by_shape = [this](int64_t requested, int64_t allocatable) {
      return requested_to_capacity_score(shape_, requested, allocatable);
    };
    rank(cycle.cluster, request, nodes, scores, by_shape, true);
  }
  // Filter and Score are both node-local.
  bool is_node_local() const override { return true; }
  bool is_by_extremes() const override { return true; }

  ClusterEvents events() const override {
    return bit_of(ClusterEventKind::AssignedPodDeleted) | bit_of(ClusterEventKind::NodeAdded);
  }
  QueueHint hint(const PodView& pod, const ClusterEvent& event) const override {
    if (!event.node.is_valid()) return QueueHint::Queue;
    const Ask ask{handle_.cluster(), *pod.spec};
    bool is_in_vain = false;
    if (event.kind == ClusterEventKind::NodeAdded) {
      is_in_vain = Ask::any([&](Resource r) { return ask.is_never_enough(event.node, r); });
    } else if (params_.deletedPodHint == DeletedPodHint::Fits) {
      is_in_vain = Ask::any([&](Resource r) { return ask.is_short(event.node, r); });
    }
    return is_in_vain ? QueueHint::Skip : QueueHint::Queue;
  }

 private:
  // Averages `one(requested, allocatable)` over the resources of the strategy.
  template <class One>
  void rank(const ClusterState& cluster, const ClusterState::Request& request,
            std::span<const NodeId> nodes, std::span<int64_t> scores, One&& one,
            bool is_ratio) const {
    for (size_t k = 0; k < nodes.size(); ++k) {
      WeightedScore average;
      for (const WeightParams& resource : strategy_.resources) {
        const Resource r = resource.name;
        const int64_t allocatable = cluster.allocatable(nodes[k], r);
        const bool is_extended = r != Resource::Cpu && r != Resource::Memory;
        if (allocatable == 0 || (is_extended && request.resources[r] == 0)) continue;
        const int64_t asked = r == Resource::Cpu      ? request.nonzero_cpu
                              : r == Resource::Memory ? request.nonzero_memory
                                                      : request.resources[r];
        const int64_t score = one(cluster.nonzero_requested(nodes[k], r) + asked, allocatable);
        if (!is_ratio || score > 0) average.add(score, resource.weight);
      }
      scores[k] = is_ratio ? average.rounded() : average.truncated();
    }
  }

  // Finds, for each resource, the least allocatable amount of any node. If a pod requests at most
  // this amount, filter() need not check which nodes are large enough.
  void learn(const ClusterState& cluster) const {
    if (least_->nodes == cluster.nodes()) return;
    least_->nodes = cluster.nodes();
    for (const Resource r : kOrder) {
      int64_t least = std::numeric_limits<int64_t>::max();
      for (uint32_t i = 0; i < cluster.nodes(); ++i) {
        least = std::min(least, cluster.allocatable({i}, r));
      }
      least_->allocatable[r] = least;
    }
  }

  const Handle& handle_;
  const Params params_;
  const StrategyParams& strategy_;
  std::vector<ShapePoint> shape_;
  struct Least {
    size_t nodes = 0;  // number of nodes at the last update
    Resources allocatable;
  };
  Cached<Least> least_;
};
ORRERY_REGISTER_POLICY(NodeResourcesFit, "NodeResourcesFit",
                       "Accepts only nodes with room for the pod. `scoringStrategy` sets whether "
                       "emptier or fuller nodes score higher.");

}  // namespace
}  // namespace orrery
