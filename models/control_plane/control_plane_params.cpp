#include "models/control_plane/control_plane_params.hpp"

#include <string>

namespace orrery {

void ControlPlaneParams::check(Checker& c) const {
  constexpr std::string_view kSections[] = {"api_servers", "clients",  "etcd",  "pods",
                                            "kubelet",     "services", "losses"};
  if (level == ControlPlaneLevel::None) {
    for (const std::string_view section : kSections) {
      if (c.is_given(section)) c.error(section, "has an effect only with level: delays or full");
    }
    return;
  }
  // Pods are written and listed from the watch cache: nothing is read from etcd, no Event is kept,
  // and no member is lost.
  constexpr std::string_view kUnused[] = {"api_servers.server.cost.stored_object",
                                          "api_servers.server.cost.stored_byte",
                                          "etcd.members",
                                          "etcd.read_latency",
                                          "etcd.stale_read_latency",
                                          "etcd.read_rate_max",
                                          "etcd.stale_read_rate_max",
                                          "etcd.read_bandwidth",
                                          "etcd.election_timeout",
                                          "etcd.event_ttl",
                                          "etcd.separate_events"};
  for (const std::string_view field : kUnused) {
    if (!c.is_given(field)) continue;
    c.error(field,
            "has no effect: runs read nothing from etcd, record no Events and lose no member");
  }
  if (level == ControlPlaneLevel::Delays) {
    constexpr std::string_view kFullOnly[] = {"clients",
                                              "services",
                                              "losses",
                                              "api_servers.servers",
                                              "api_servers.balance",
                                              "api_servers.flow_control",
                                              "api_servers.server.cores",
                                              "api_servers.server.cost.read",
                                              "api_servers.server.cost.watch",
                                              "api_servers.server.cost.cached_object",
                                              "api_servers.server.heap",
                                              "api_servers.server.request_timeout",
                                              "api_servers.server.restart_time",
                                              "etcd.compaction_interval",
                                              "etcd.quota",
                                              "etcd.write_rate_max",
                                              "etcd.request_max",
                                              "pods.watchers",
                                              "kubelet.status_writes",
                                              "kubelet.heartbeats"};
    for (const std::string_view field : kFullOnly) {
      if (c.is_given(field)) c.error(field, "has an effect only with level: full");
    }
  }
  for (size_t i = 0; i < losses.size(); ++i) {
    if (losses[i].server < api_servers.servers) continue;
    c.error("losses[" + std::to_string(i) + "].server",
            "there are servers 0 to " + std::to_string(api_servers.servers - 1));
  }
}

Duration unloaded_write(const ControlPlaneParams& params, Bytes bytes) {
  ApiRequest write{.verb = Verb::Create, .bytes = bytes, .answer = bytes};
  const ApiServerParams& server = params.api_servers.server;
  const Duration sending = server.egress.bits_per_s > 0 ? write.answer / server.egress : Duration{};
  return server.cost.of(write) + params.etcd.commit_time() + sending;
}

}  // namespace orrery
