// models/control_plane/api_server/api_server_params.hpp -- parameters of API servers, and their
// steady load.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "models/control_plane/base/request.hpp"
#include "models/control_plane/flow_control/priority_and_fairness_params.hpp"
#include "models/facts/fact.hpp"
#include "sim/config/fields.hpp"
#include "sim/core/enum_names.hpp"
#include "sim/core/time.hpp"

namespace orrery {

struct ApiCostParams {
  static constexpr std::string_view kDoc = "CPU time of requests on an API server.";
  Duration read = 200_us, write = 1_ms, watch = 200_us;
  double cached_object = 1'800, stored_object = 16'000;
  double stored_byte = 10, sent_byte = 10;

  template <class V>
  void fields(V& v) {
    constexpr Range kEach{Duration{}, 1_min};
    constexpr Range kPerByte{0.0, 1e5};  // the CPU time of a LIST of 10 TB still fits 64 bits
    v("read", read, "A GET or LIST. The costs below for objects and bytes are added.", kEach,
      Source{"estimate"}, Heeded{Fact::Lists});
    v("write", write, "A write of an object. The cost of sent bytes is added.", kEach,
      Source{"estimate: a core handles some 1,000 a second"});
    v("watch", watch, "The start of a WATCH.", kEach, Source{"estimate: as a read"},
      Heeded{Fact::Lists});
    v("cached_object", cached_object, "A LIST from the watch cache, for each object that it reads.",
      Range{0.0, 1e9}, Unit{"ns"},
      Source{"KEP-2340: 0.53 cores list 300,000 cached objects once a second"},
      Heeded{Fact::Lists});
    v("stored_object", stored_object, "A LIST from etcd, for each object that it reads.",
      Range{0.0, 1e9}, Unit{"ns"},
      Source{"KEP-2340: LISTs of 300,000 objects of 1 KB from etcd, less the cost of the bytes"},
      Heeded{Fact::EtcdReads});
    v("stored_byte", stored_byte, "A read from etcd, for each byte.", kPerByte, Unit{"ns"},
      Source{"KEP-2340: 3 cores list 300 objects of 1 MB from etcd once a second"},
      Heeded{Fact::EtcdReads});
    v("sent_byte", sent_byte, "The encoding of a response, for each byte.", kPerByte, Unit{"ns"},
      Source{"estimate: as a byte read from etcd"});
  }
  Duration of(const ApiRequest& request) const;
};

// The memory is linear in the number of nodes, as OpenAI observed in its cluster.
struct ApiHeapParams {
  static constexpr std::string_view kDoc = "Memory of an API server.";
  Bytes base = {}, per_node = {9'333'333}, per_watcher = {};
  double list_factor = 5;
  std::optional<Bytes> limit = {};

  template <class V>
  void fields(V& v) {
    v("base", base, "Memory of a server in an empty cluster.", Source{"included in per_node"});
    v("per_node", per_node, "Memory for each node of the cluster, with its pods and watches.",
      Range{Bytes{}, 1024_GiB}, Source{"OpenAI 2021: 70 GB at 7,500 nodes"});
    v("per_watcher", per_watcher, "Memory for each watch, including those of kubelets.",
      Range{Bytes{}, 1_GiB}, Source{"included in per_node"});
    v("list_factor", list_factor,
      "Bytes of memory for each byte of a LIST, held until the response is sent.",
      Range{0.0, 1000.0}, Unit{"ratio"}, Source{"KEP-3157: about 5"}, Heeded{Fact::Lists});
    v("limit", limit, "A server that needs more memory is killed and restarts; absent: no limit.",
      Example{"128GiB"});
  }
};

struct ApiServerParams {
  static constexpr std::string_view kDoc = "One API server.";
  double cores = 64;
  Bandwidth egress = 25_Gbps;
  Duration request_timeout = 60_s, restart_time = 30_s;
  ApiCostParams cost = {};
  ApiHeapParams heap = {};

  template <class V>
  void fields(V& v) {
    v("cores", cores,
      "Number of cores. Requests in execution share them equally, at most one core each.",
      Range{0.01, 1e6}, Unit{"cores"},
      Source{"Kubernetes: control-plane machine of tests with 5,000 nodes"},
      Heeded{Fact::FullPlane});
    v("egress", egress, "Bandwidth for responses and watch events together; 0: no limit.",
      Source{"estimate: a NIC of 25 Gb/s"});
    v("request_timeout", request_timeout, "A request that takes longer is given up.",
      Range{1_ms, 24_h}, Source{"kube-apiserver --request-timeout"}, Heeded{Fact::FullPlane});
    v("restart_time", restart_time,
      "Time from running out of memory until the server serves again.", Source{"estimate"},
      Heeded{Fact::FullPlane},
      Heeded{heap.limit.has_value(), "heap.limit is absent, so no server runs out of memory"});
    v("cost", cost, "CPU time of requests.");
    v("heap", heap, "Memory of a server.", Heeded{Fact::FullPlane});
  }
};

// How a client chooses its server. Sticky: the client stays connected (HTTP/2) until the server is
// lost. PerRequest: each request goes to a random server.
enum class ApiBalance : uint8_t { Sticky, PerRequest };
constexpr std::array<std::string_view, 2> enum_names(ApiBalance) {
  return {"sticky", "per_request"};
}

struct ApiServersParams {
  static constexpr std::string_view kDoc =
      "API servers, their seats, and the connections of their clients.";
  int32_t servers = 5;
  ApiBalance balance = ApiBalance::Sticky;
  ApiServerParams server = {};
  FlowControlParams flow_control = {};

  template <class V>
  void fields(V& v) {
    v("servers", servers, "Number of API servers.", Range{1, 1000}, Unit{"servers"},
      Source{"OpenAI 2021: five at 7,500 nodes"}, Heeded{Fact::FullPlane});
    v("balance", balance,
      "sticky: a client keeps its server while that server is up; per_request: each request goes "
      "to a random server.",
      Source{"HTTP/2: one connection carries all requests"}, Heeded{Fact::FullPlane},
      Heeded{servers > 1, "there is one server"});
    v("server", server, "Each API server.");
    v("flow_control", flow_control,
      "How many requests each server executes at a time, and which requests come first.",
      Heeded{Fact::FullPlane});
  }
  void check(Checker& c) const;
};

// Memory of a server in a cluster of `nodes` nodes, except the part set by ApiServer::set_cached().
// The open LISTs have `listing` bytes in total, and `watchers` watches are open.
Bytes heap_of(const ApiHeapParams& params, int64_t nodes, Bytes listing, int64_t watchers);

// Steady load: requests that are not simulated one by one, such as heartbeats.
struct SteadyLoad {
  double requests_per_s = 0;
  Duration cpu = {};   // CPU time of one request, on one core
  Duration held = {};  // seat time of a request
  Bytes sent = {};
};
// The sum of all loads: rates add up, and the other fields are means per request.
SteadyLoad sum_of(std::span<const SteadyLoad> loads);

}  // namespace orrery
