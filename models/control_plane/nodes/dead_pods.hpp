// models/control_plane/nodes/dead_pods.hpp -- pods that died with their node and are still in the
// API.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "models/workload/job/pod_news.hpp"
#include "sim/core/id.hpp"

namespace orrery {

// Holds each pod from its death until its object is deleted. begin() may be called for a node while
// earlier pods of the node are still being deleted. In this case deleted() returns the earlier and
// the new pods together, when the last of their objects is deleted. The job controller's class
// Replacements decides what happens to the jobs of the pods.
class DeadPods {
 public:
  explicit DeadPods(uint32_t nodes) : nodes_{nodes} {}

  void died(NodeId node, const DeadPod& pod, uint32_t object) {  // object: 0 if there is none
    nodes_[node].shown.push_back({pod, object});
  }
  // Starts the deletion of the pods that the node lost since the last begin(); returns their
  // objects.
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
  // Call after `objects` objects of the node were deleted. If these were the last objects that
  // begin() returned, returns all pods whose deletion had begun; otherwise returns no pods.
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
    size_t left = 0;             // number of their objects that still exist
  };
  IdVector<NodeId, OfNode> nodes_;
};

}  // namespace orrery
