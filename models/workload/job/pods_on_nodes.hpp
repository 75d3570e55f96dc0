// models/workload/job/pods_on_nodes.hpp -- which pods are bound to a node.
#pragma once

#include <cstddef>
#include <vector>

#include "sim/core/id.hpp"

namespace orrery {

// Each node has a doubly linked list of its pods. The links are in an array indexed by pod id, so
// add() and remove() take constant time and allocate nothing.
class PodsOnNodes {
 public:
  explicit PodsOnNodes(size_t nodes) : first_(nodes) {}
  void grow(size_t pods) {
    if (pods > links_.size()) links_.resize(pods);
  }

  void add(NodeId node, PodId pod) {
    const PodId next = first_[node];
    links_[pod] = {.previous = {}, .next = next};
    if (next.is_valid()) links_[next].previous = pod;
    first_[node] = pod;
  }
  void remove(NodeId node, PodId pod) {
    const Link link = links_[pod];
    (link.previous.is_valid() ? links_[link.previous].next : first_[node]) = link.next;
    if (link.next.is_valid()) links_[link.next].previous = link.previous;
  }
  // Appends the pods of `node` to `pods`, latest bound first.
  void collect(NodeId node, std::vector<PodId>& pods) const {
    for_each(node, [&](PodId pod) { pods.push_back(pod); });
  }
  template <class F>
  void for_each(NodeId node, F&& f) const {  // latest bound first
    for (PodId pod = first_[node]; pod.is_valid(); pod = links_[pod].next) f(pod);
  }

 private:
  struct Link {
    PodId previous, next;
  };
  IdVector<NodeId, PodId> first_;
  IdVector<PodId, Link> links_;
};

}  // namespace orrery
