// models/control_plane/nodes/dead_pods.hpp -- pods that died with their node and are still in the
// API.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "models/workload/job/pod_news.hpp"
#include "sim/core/id.hpp"

namespace orrery {

// A pod is listed from its death until its object is deleted. Which pods died, and what follows for
// their jobs, is in the job controller's Replacements. Deletions of a node end together: pods added
// during deletions are gone only when all of them are deleted.
class DeadPods {
 public:
  explicit DeadPods(uint32_t nodes) : nodes_{nodes} {}

  void died(NodeId node, const DeadPod& pod, uint32_t object) {  // object: 0 if there is none
    nodes_[node].shown.push_back({pod, object});
  }
  // Starts the deletion of all pods that the node lost so far; returns their objects.
  std::vector<uint32_t> begin(NodeId node) {
    OfNode& of = nodes_[node];
    std::vector<uint32_t> objects;
    for (const Shown& shown : std::exchange(of.shown, {})) {
      objects.push_back(shown.object);
      of.going.push_back(shown.pod);
    }
    of.left += objects.size();
    return objects;
  }
  // So many of these objects are deleted. Returns the pods that are gone: all of them once no
  // object is left.
  std::vector<DeadPod> deleted(NodeId node, size_t objects = 1) {
    OfNode& of = nodes_[node];
    of.left -= objects;
    return of.left > 0 ? std::vector<DeadPod>{} : std::exchange(of.going, {});
  }

 private:
  struct Shown {
    DeadPod pod;
    uint32_t object = 0;
  };
  struct OfNode {
    std::vector<Shown> shown;
    std::vector<DeadPod> going;  // being deleted
    size_t left = 0;             // objects of these that are left
  };
  IdVector<NodeId, OfNode> nodes_;
};

}  // namespace orrery
