// models/scheduling/framework/nominations.hpp -- nominated pods and their nodes.
#pragma once

#include <bit>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "models/hardware/cluster_state.hpp"
#include "models/scheduling/contract/policy_types.hpp"

namespace orrery {

class Nominations {
 public:
  struct Nomination {
    PodId pod;
    int32_t priority = 0;
    Resources asked{};
    int32_t whole_gpus = 0;
    bool is_tried_first = false;
    GangId gang = {};  // valid if other members may use the room: the gang is placed as a whole
  };

  explicit Nominations(size_t nodes) : nodes_{nodes} {}

  void set(const Nomination& nomination, NodeId node) {
    clear(nomination.pod);
    of_pods_[nomination.pod] = node;
    on_nodes_[node].push_back(nomination);
    nodes_.insert(node);
  }
  void clear(PodId pod) {
    if (of_pods_.empty()) return;
    const auto found = of_pods_.find(pod);
    if (found == of_pods_.end()) return;
    const auto there = on_nodes_.find(found->second);
    std::erase_if(there->second, [pod](const Nomination& n) { return n.pod == pod; });
    if (there->second.empty()) {
      nodes_.erase(there->first);
      on_nodes_.erase(there);
    }
    of_pods_.erase(found);
  }
  bool empty() const { return of_pods_.empty(); }
  const NodeSet& nodes() const { return nodes_; }
  NodeId node_of(PodId pod) const {
    const auto found = of_pods_.find(pod);
    return found == of_pods_.end() ? NodeId{} : found->second;
  }
  std::span<const Nomination> on(NodeId node) const {
    const auto found = on_nodes_.find(node);
    return found == on_nodes_.end() ? std::span<const Nomination>{} : std::span{found->second};
  }
  // The nominated node, if the pod's next attempt tries this node before all others; else invalid.
  NodeId first_choice(PodId pod) const {
    const NodeId node = node_of(pod);
    for (const Nomination& n : on(node)) {
      if (n.pod == pod && n.is_tried_first) return node;
    }
    return {};
  }

  // Whether `pod` fits on the node beside the node's nominated pods of equal or higher priority. If
  // the gang of `pod` is placed as a whole, nominated pods of this gang are ignored. Only sums of
  // requests are compared, because nominated pods have no devices yet. Example: 6 of 8 GPUs are
  // idle, and the nominated pods request 4 whole GPUs. So a pod with 2 whole GPUs fits.
  bool leave_room(const ClusterState& cluster, const PodView& pod, NodeId node) const {
    Resources claimed;
    int64_t whole = 0;
    for (const Nomination& n : on(node)) {
      if (n.pod == pod.id || n.priority < pod.spec->priority) continue;
      if (n.gang.is_valid() && n.gang == pod.gang) continue;
      claimed += n.asked;
      whole += n.whole_gpus;
    }
    const Resources asked = pod.spec->requests();
    for (size_t r = 0; r < kResources; ++r) {
      const auto resource = static_cast<Resource>(r);
      if (claimed[resource] == 0 || asked[resource] == 0) continue;
      if (asked[resource] > cluster.free(node, resource) - claimed[resource]) return false;
    }
    if (whole == 0 || pod.spec->gpus == 0 || pod.spec->gpu_milli != kMilli) return true;
    return std::popcount(cluster.idle_gpus(node)) - whole >= pod.spec->gpus;
  }

 private:
  std::map<PodId, NodeId> of_pods_;
  std::map<NodeId, std::vector<Nomination>> on_nodes_;  // in the order of nomination
  NodeSet nodes_;
};

}  // namespace orrery
