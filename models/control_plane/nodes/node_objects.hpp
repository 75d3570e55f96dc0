// models/control_plane/nodes/node_objects.hpp -- what etcd holds of each node.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "models/control_plane/etcd/etcd_store.hpp"
#include "sim/core/id.hpp"
#include "sim/core/time.hpp"

namespace orrery {

// A Node, its CSINode and its Lease, until the node is taken away; and the request for its
// certificate, which kube-controller-manager deletes an hour after it was granted: here, after the
// last answer to its sender, so that it never goes before it is stored. Of nodes that
// were there at the start they are counted, and not stored: heartbeats write them again and again.
class NodeObjects {
 public:
  NodeObjects(EtcdStore& store, uint32_t nodes);
  NodeObjects(const NodeObjects&) = delete;
  NodeObjects& operator=(const NodeObjects&) = delete;

  void absent(NodeId node);  // before the start
  // What the store calls that which a request of the node writes, if it joins; 0: it has no name.
  uint32_t name(NodeId node, const ApiRequest& request, Time now);
  void answered(NodeId node, uint32_t name, Time now);  // a request with that name
  void removed(NodeId node);
  void expire(Time now);
  int64_t keys_from_start() const { return int64_t{kKept} * from_start_; }

 private:
  static constexpr size_t kKept = 3, kCertificate = 3;  // which is of those that go by themselves
  struct Answered {
    Time at;
    NodeId node;
    uint32_t name;
  };

  EtcdStore& store_;
  std::vector<bool> is_from_start_;                     // by node
  std::vector<std::array<uint32_t, kKept + 1>> names_;  // likewise; 0: none yet
  std::deque<Answered> answered_;                       // requests for certificates
  std::vector<uint32_t> asked_;  // by name: how many of these are under way, or answered so late
  int64_t from_start_;
};

}  // namespace orrery
