// models/control_plane/node_join_params.hpp -- what a node that joins asks of the servers.
#pragma once

#include <optional>
#include <string_view>

#include "sim/config/fields.hpp"
#include "sim/core/time.hpp"

namespace orrery {

struct NodeJoinParams {
  static constexpr std::string_view kDoc =
      "A node that joins registers, and its daemons list what they watch from then on.";
  int32_t certificate_requests = 3;
  int32_t registrations = 3;
  int32_t lease_requests = 2;
  int32_t status_patches = 3;
  int32_t kubelet_lists = 5;
  int32_t proxy_lists = 3;
  int32_t daemons = 4;
  int32_t lists_per_daemon = 3;
  int32_t events = 5;
  Bytes service_bytes = {1'000};
  double rate_max = 0;
  int32_t burst = 1;

  template <class V>
  void fields(V& v) {
    const Source estimate{"estimate: nobody published a count; 30 to 60 in all"};
    v("certificate_requests", certificate_requests, "To get a client certificate.",
      Range{0, 10'000}, Unit{"requests"}, estimate);
    v("registrations", registrations, "To create the Node and its CSINode.", Range{1, 10'000},
      Unit{"requests"}, estimate);
    v("lease_requests", lease_requests, "To look for its Lease and create it.", Range{0, 10'000},
      Unit{"requests"}, estimate);
    v("status_patches", status_patches, "Of its status, until it is ready.", Range{0, 10'000},
      Unit{"requests"}, estimate);
    v("kubelet_lists", kubelet_lists,
      "That its kubelet makes: services and what concerns itself; each is followed by a watch.",
      Range{0, 10'000}, Unit{"lists"}, estimate);
    v("proxy_lists", proxy_lists,
      "That its kube-proxy makes: services, their addresses, its node; each is followed by a "
      "watch.",
      Range{0, 10'000}, Unit{"lists"}, estimate);
    v("daemons", daemons, "Pods of DaemonSets that talk to the servers.", Range{0, 10'000},
      Unit{"pods"}, Source{"estimate: network, storage, metrics, logs"});
    v("lists_per_daemon", lists_per_daemon, "That each makes, followed by a watch.",
      Range{0, 10'000}, Unit{"lists"}, estimate);
    v("events", events, "That it records.", Range{0, 10'000}, Unit{"requests"}, estimate);
    v("service_bytes", service_bytes, "Of a Service in these lists.", Range{1_B, 1_MiB},
      Source{"estimate: 1 KB"});
    v("rate_max", rate_max, "Nodes that are let in; 0: as they come.", Range{0.0, 1e6},
      Unit{"nodes/s"}, Source{"0: nothing holds them back"});
    v("burst", burst, "Nodes that are let in at once.", Range{1, 1'000'000}, Unit{"nodes"},
      Source{"1: one at a time"});
  }
  void check(Checker& c) const {
    if (rate_max == 0 && c.is_given("burst")) c.error("burst", "has no effect without rate_max");
  }
};

}  // namespace orrery
