#include "models/control_plane/services/watch_fan_out.hpp"

namespace orrery {

FanOutCost& FanOutCost::operator+=(const FanOutCost& other) {
  events += other.events;
  addresses += other.addresses;
  egress = egress + other.egress;
  cpu += other.cpu;
  return *this;
}

FanOutCost fan_out(const ObjectWrite& write, int64_t watchers, const WatchFanOutParams& params) {
  if (watchers == 0) return {};
  const Bytes egress = write.bytes * watchers;
  const int64_t encodings = params.encodes_for_each_watcher ? watchers : 1;
  return {
      .events = watchers,
      .addresses = write.addresses * watchers,
      .egress = egress,
      .cpu = params.encode_per_address * (write.addresses * encodings) + egress / params.copy_rate};
}

int64_t Subscribers::at_servers(bool is_headless, const WatchFanOutParams& params) const {
  const bool do_proxies_watch = !is_headless || !params.has_headless_filter;
  return (do_proxies_watch ? kube_proxies : 0) + daemons + controllers + agents;
}

FanOutCost fan_out_of_agents(const ObjectWrite& write, const Subscribers& subscribers,
                             const WatchFanOutParams& params) {
  return fan_out(write, subscribers.behind_agents, params);
}

}  // namespace orrery
