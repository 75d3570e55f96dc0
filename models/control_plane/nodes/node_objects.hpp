// models/control_plane/nodes/node_objects.hpp -- etcd objects of each node.
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

// Holds the store's names of each node's objects. Node, CSINode and Lease exist until the node is
// removed. kube-controller-manager deletes a CertificateSigningRequest (CSR) an hour after its
// approval. In the simulation the hour begins at the response to the CSR's create request (the
// last one, if there are several), so no CSR is deleted before it is stored. Objects of nodes that
// exist at the start are not in the store; keys_from_start() counts these objects.
class NodeObjects {
 public:
  NodeObjects(EtcdStore& store, uint32_t nodes);
  NodeObjects(const NodeObjects&) = delete;
  NodeObjects& operator=(const NodeObjects&) = delete;

  void absent(NodeId node);  // the node is absent at the start
  // If `request` creates an object of a joining node, returns the object's name in the store.
  // Returns 0 for all other requests, and for nodes that exist at the start.
  uint32_t name(NodeId node, const ApiRequest& request, Time now);
  // Must be called when a request that creates the object `name` is answered.
  void answered(NodeId node, uint32_t name, Time now);
  void removed(NodeId node);
  void expire(Time now);
  int64_t keys_from_start() const { return int64_t{kKept} * from_start_; }

 private:
  // The first kKept objects of a node stay until the node is removed. The object with index
  // kCertificate, the certificate request, expires.
  static constexpr size_t kKept = 3, kCertificate = 3;
  struct Answered {
    Time at;
    NodeId node;
    uint32_t name;
  };

  EtcdStore& store_;
  std::vector<bool> is_from_start_;                     // by node: it has existed since the start
  std::vector<std::array<uint32_t, kKept + 1>> names_;  // names of its objects, by node; 0: none
  std::deque<Answered> answered_;  // API calls to create certificate requests, by response time
  // By name of a certificate request: number of API calls to create it that are open, or had a
  // response in the last hour.
  std::vector<uint32_t> asked_;
  int64_t from_start_;
};

}  // namespace orrery
