// models/control_plane/services/watch_fan_out.hpp -- the cost of sending the watch events of
// one write.
#pragma once

#include <cstdint>
#include <string_view>

#include "models/control_plane/services/endpoints.hpp"
#include "sim/config/fields.hpp"
#include "sim/core/time.hpp"

namespace orrery {

struct WatchFanOutParams {
  static constexpr std::string_view kDoc =
      "What an API server spends to send the watch events of one write.";
  bool encodes_for_each_watcher = false;
  Duration encode_per_address = {3'750};
  Bandwidth copy_rate = 8_Gbps;
  bool has_headless_filter = true;

  template <class V>
  void fields(V& v) {
    v("encodes_for_each_watcher", encodes_for_each_watcher,
      "Whether an object is encoded for each watcher, or once for all.",
      Source{"KEP-1152: once since Kubernetes 1.17"});
    v("encode_per_address", encode_per_address, "Time that one core takes to encode one address.",
      Range{Duration{}, 1_ms},
      Source{"calibrated: kubernetes issue 58050, 8 writes/s of 400 addresses to 5,000 watchers "
             "keep 60 cores busy"});
    v("copy_rate", copy_rate, "Rate at which one core encrypts and sends encoded objects.",
      Range{Bandwidth{1}, 1000_Gbps}, Source{"estimate: TLS and the network stack, 1 GB/s"});
    v("has_headless_filter", has_headless_filter, "Whether kube-proxies skip headless services.",
      Source{"kubernetes pull request 81612, since 1.17"});
  }
};

struct FanOutCost {
  int64_t events = 0;     // sent to watchers
  int64_t addresses = 0;  // in these events
  Bytes egress = {};
  Duration cpu = {};  // on one core
  FanOutCost& operator+=(const FanOutCost& other);
};
FanOutCost fan_out(const ObjectWrite& write, int64_t watchers, const WatchFanOutParams& params);

// Numbers of watchers of services' addresses.
struct Subscribers {
  int64_t kube_proxies = 0;  // one on each node
  int64_t daemons = 0;       // pods of DaemonSets with their own watch
  int64_t controllers = 0;
  int64_t agents = 0;         // each watches once, and forwards the events
  int64_t behind_agents = 0;  // watchers that get their events from agents

  int64_t at_servers(bool is_headless, const WatchFanOutParams& params) const;
};

// The cost to agents, not to API servers, of forwarding events to the agents' clients.
FanOutCost fan_out_of_agents(const ObjectWrite& write, const Subscribers& subscribers,
                             const WatchFanOutParams& params);

}  // namespace orrery
