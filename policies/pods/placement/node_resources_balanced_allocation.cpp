// Prefers nodes where the pod evens out the used shares of the resources.
#include <algorithm>
#include <array>
#include <vector>

#include "models/scheduling/contract/policy_registry.hpp"
#include "models/scheduling/toolbox/scoring.hpp"

namespace orrery {
namespace {

enum class Version : uint8_t { Delta, Absolute };
constexpr std::array<std::string_view, 2> enum_names(Version) { return {"delta", "absolute"}; }

struct ResourceParams {
  Resource name = Resource::Cpu;
  template <class V>
  void fields(V& v) {
    v("name", name, "The resource.", Required{});
  }
};

class NodeResourcesBalancedAllocation final : public Policy, public PreScore, public Score {
 public:
  struct Params {
    std::vector<ResourceParams> resources{{Resource::Cpu}, {Resource::Memory}};
    Version version = Version::Delta;
    template <class V>
    void fields(V& v) {
      v("resources", resources, "Resources whose shares are compared.",
        Source{"kube-scheduler 1.36"});
      v("version", version,
        "What is scored. delta: how much the pod improves the balance; absolute: the balance with "
        "the pod, as in older releases.",
        Source{"kube-scheduler 1.36"});
    }
    void check(Checker& checker) const {
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
  NodeResourcesBalancedAllocation(Handle& /*handle*/, const Params& params) : params_{params} {}

  Status pre_score(const Cycle& cycle, std::span<const NodeId> /*feasible*/) const override {
    const Resources want = cycle.pod.spec->requests();
    const bool asks = std::ranges::any_of(
        params_.resources, [&](const ResourceParams& r) { return want[r.name] != 0; });
    if (!asks) return {Code::Skip};
    return {};
  }

  void score(const Cycle& cycle, std::span<const NodeId> nodes,
             std::span<int64_t> scores) const override {
    const Resources want = cycle.pod.spec->requests();
    for (size_t k = 0; k < nodes.size(); ++k) {
      const int64_t with_pod = balance(cycle.cluster, nodes[k], want, true);
      scores[k] =
          params_.version == Version::Absolute
              ? with_pod
              : balance_delta_score(with_pod, balance(cycle.cluster, nodes[k], want, false));
    }
  }
  bool is_node_local() const override { return true; }
  bool is_by_extremes() const override { return true; }

 private:
  int64_t balance(const ClusterState& cluster, NodeId node, const Resources& want,
                  bool with_pod) const {
    std::array<double, kResources> fractions{};
    size_t count = 0;
    for (const ResourceParams& resource : params_.resources) {
      const Resource r = resource.name;
      const int64_t allocatable = cluster.allocatable(node, r);
      const bool is_extended = r != Resource::Cpu && r != Resource::Memory;
      if (allocatable == 0 || (is_extended && want[r] == 0)) continue;
      const int64_t requested = cluster.requested(node, r) + (with_pod ? want[r] : 0);
      fractions[count++] =
          std::min(1.0, static_cast<double>(requested) / static_cast<double>(allocatable));
    }
    return balance_score(std::span{fractions}.first(count));
  }
  const Params params_;
};
ORRERY_REGISTER_POLICY(NodeResourcesBalancedAllocation, "NodeResourcesBalancedAllocation",
                       "Prefers nodes where the pod evens out the used shares of cpu, memory and "
                       "other resources.");

}  // namespace
}  // namespace orrery
