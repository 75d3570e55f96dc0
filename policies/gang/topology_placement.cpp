// Tries a whole gang under one leaf switch, or on one node, before the whole cluster.
#include <array>
#include <vector>

#include "models/scheduling/policy_registry.hpp"

namespace orrery {
namespace {

enum class Level : uint8_t { Leaf, Hostname };
constexpr std::array<std::string_view, 2> enum_names(Level) { return {"leaf", "hostname"}; }

// Members that already have a node bind the rest to their domain.
class TopologyPlacement final : public Policy, public Domains, public Reserve, public PodWatcher {
 public:
  struct Params {
    Level level = Level::Leaf;
    bool required = true;
    template <class V>
    void fields(V& v) {
      v("level", level, "What a domain is: the nodes of one leaf switch, or one node.");
      v("required", required, "Without a domain for all, wait; if false, spread over any nodes.",
        Source{"kube-scheduler 1.36"});
    }
  };
  TopologyPlacement(Handle& /*handle*/, const Params& params) : params_{params} {}

  void domains(const Cycle& cycle, const GangView& gang, std::vector<NodeSet>& out) override {
    const ClusterState& cluster = cycle.cluster;
    const Home* const home = gang.id.index < homes_.size() ? &homes_[gang.id.index] : nullptr;
    if (home != nullptr && home->pods > 0) {
      add(cluster, home->node, out);
    } else if (params_.level == Level::Hostname) {
      cluster.up().for_each([&](NodeId n) { add(cluster, n, out); });
    } else {
      for (uint32_t leaf = 0; leaf < cluster.leaves(); ++leaf) {
        if (const NodeId first = cluster.in_leaf(leaf).next({0}); first.is_valid()) {
          add(cluster, first, out);
        }
      }
    }
    if (!params_.required) out.push_back(cluster.up());
  }

  Status reserve(const Cycle& cycle, NodeId node) override {
    const PodView& pod = cycle.pod;
    if (!pod.gang.is_valid()) return {};
    if (pod.id.index >= is_placed_.size()) is_placed_.resize(pod.id.index + size_t{1});
    if (pod.gang.index >= homes_.size()) homes_.resize(pod.gang.index + size_t{1});
    Home& home = homes_[pod.gang.index];
    if (!is_placed_[pod.id.index] && home.pods++ == 0) home.node = node;
    is_placed_[pod.id.index] = true;
    return {};
  }
  void unreserve(const PodView& pod, NodeId /*node*/) noexcept override { forget(pod); }
  void pod_gone(const PodView& pod) override { forget(pod); }

 private:
  struct Home {
    NodeId node;  // of the first member: stands for the domain of all
    int32_t pods = 0;
  };

  void add(const ClusterState& cluster, NodeId member, std::vector<NodeSet>& out) const {
    NodeSet domain;
    if (params_.level == Level::Leaf) {
      domain = cluster.in_leaf(cluster.leaf(member));
      domain &= cluster.up();
    } else {
      domain = NodeSet{cluster.nodes()};
      domain.insert(member);
    }
    if (!domain.empty()) out.push_back(std::move(domain));
  }
  void forget(const PodView& pod) noexcept {
    if (pod.id.index >= is_placed_.size() || !is_placed_[pod.id.index]) return;
    is_placed_[pod.id.index] = false;
    --homes_[pod.gang.index].pods;
  }

  const Params params_;
  std::vector<Home> homes_;      // by GangId
  std::vector<bool> is_placed_;  // by PodId
};
ORRERY_REGISTER_POLICY(TopologyPlacement, "TopologyPlacement",
                       "Places a whole gang under one leaf switch or on one node.");

}  // namespace
}  // namespace orrery
