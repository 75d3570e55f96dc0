// models/control_plane/nodes/node_join_params.hpp -- API requests of a joining node.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "models/facts/fact.hpp"
#include "sim/config/fields.hpp"
#include "sim/core/time.hpp"

namespace orrery {

struct NodeJoinParams {
  static constexpr std::string_view kDoc =
      "A joining node registers, and its daemons list and then watch.";
  int32_t certificate_requests = 3;
  int32_t registrations = 3;
  int32_t lease_requests = 2;
  int32_t status_patches = 3;
  int32_t kubelet_lists = 5;
  int32_t proxy_lists = 3;
  int32_t daemons = 4;
  int32_t lists_per_daemon = 3;
  int32_t events = 5;
  int64_t services = 1'000;
  Bytes service_bytes = {1'000};
  int64_t slices = 1'000;
  Bytes slice_bytes = {1'000};
  Bytes object_bytes = {5'000};
  double rate_max = 0;
  int32_t burst = 1;

  template <class V>
  void fields(V& v) {
    const Source estimate{"estimate: no count is published; a boot sends 30 to 60 requests in all"};
    v("certificate_requests", certificate_requests, "Requests for a client certificate.",
      Range{0, 10'000}, Unit{"requests"}, estimate, Heeded{Fact::NewNodes});
    v("registrations", registrations, "Requests that create the Node and its CSINode.",
      Range{1, 10'000}, Unit{"requests"}, estimate);
    v("lease_requests", lease_requests, "Requests that look for the node's Lease and create it.",
      Range{0, 10'000}, Unit{"requests"}, estimate);
    v("status_patches", status_patches, "Patches of the node's status, until the node is ready.",
      Range{0, 10'000}, Unit{"requests"}, estimate);
    v("kubelet_lists", kubelet_lists,
      "LISTs by the kubelet (of Services, its Node, its Pods, RuntimeClasses and CSIDrivers). A "
      "WATCH follows each LIST.",
      Range{0, 10'000}, Unit{"lists"}, estimate);
    v("proxy_lists", proxy_lists,
      "LISTs by the kube-proxy (of Services, EndpointSlices and its Node). A WATCH follows each "
      "LIST.",
      Range{0, 10'000}, Unit{"lists"}, estimate);
    v("daemons", daemons, "DaemonSet pods on the node that are clients of the API servers.",
      Range{0, 10'000}, Unit{"pods"}, Source{"estimate: network, storage, metrics, logs"});
    v("lists_per_daemon", lists_per_daemon,
      "LISTs by each of these daemons. A WATCH follows each LIST.", Range{0, 10'000}, Unit{"lists"},
      estimate);
    v("events", events, "Events that the node records.", Range{0, 10'000}, Unit{"requests"},
      estimate);
    v("services", services, "Services in the cluster. A LIST returns all of them.",
      Range{0, 1'000'000}, Unit{"services"},
      Source{"estimate: a tenth of what Kubernetes is tested with"});
    v("service_bytes", service_bytes, "Size of a Service.", Range{1_B, 1_MiB},
      Source{"estimate: 1 KB"});
    v("slices", slices,
      "EndpointSlices with the addresses of these services. A LIST returns all of them.",
      Range{0, 10'000'000}, Unit{"slices"}, Source{"estimate: one for each service"},
      Heeded{Fact::NodeAddresses});
    v("slice_bytes", slice_bytes, "Size of an EndpointSlice.", Range{1_B, 1_MiB},
      Source{"KEP-0752: 100 B an address; estimate: ten addresses"}, Heeded{Fact::NodeAddresses});
    v("object_bytes", object_bytes,
      "Size of an object that a boot reads or writes, except Services, EndpointSlices, Nodes, "
      "Leases and Events.",
      Range{1_B, 1_MiB}, Source{"estimate: size of a Pod"});
    v("rate_max", rate_max,
      "Maximum rate at which nodes may begin to join; 0: no limit. Nodes that boot again are not "
      "limited.",
      Range{0.0, 1e6}, Unit{"nodes/s"}, Source{"there is no limit"}, Heeded{Fact::NewNodes});
    v("burst", burst, "Maximum number of nodes that may begin to join at once.",
      Range{1, 1'000'000}, Unit{"nodes"}, Source{"nodes join one at a time"},
      Heeded{rate_max > 0, "rate_max is 0"});
  }
};

struct JoinParams {
  static constexpr std::string_view kDoc =
      "Nodes that join later: the last nodes of their pool. Entries for the same pool take these "
      "nodes in the order of this list.";
  std::string pool = {};
  std::optional<int32_t> nodes = {};
  Duration at = {};
  Duration over = {};

  template <class V>
  void fields(V& v) {
    v("pool", pool, "Name of a pool in cluster.pools, or of a node list.", Required{},
      Example{"gpu"});
    v("nodes", nodes, "Number of nodes; absent: all of the pool.", Range{1, 1'000'000},
      Unit{"nodes"});
    v("at", at, "When the first node begins to join, from the start of the run.", Required{},
      Example{"10min"}, IsInstant{});
    v("over", over, "The other nodes follow at even intervals within this time; 0: all at once.",
      Source{"a scale-up requests all nodes together"}, Heeded{nodes != 1, "a single node joins"});
  }
};

}  // namespace orrery
