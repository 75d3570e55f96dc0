#include "models/control_plane/control_plane_params.hpp"

#include <algorithm>

#include "models/control_plane/base/losses.hpp"

namespace orrery {

bool ControlPlaneParams::reads_etcd() const {
  const auto does = [](const auto& part) {
    return part && std::ranges::any_of(part->readers, [](const ListReaderParams& reader) {
             return reader.from == ListFrom::Etcd;
           });
  };
  return does(events) || does(namespaces);
}

bool ControlPlaneParams::has_readers() const {
  return (events && !events->readers.empty()) || (namespaces && !namespaces->readers.empty());
}

void ControlPlaneParams::check(Checker& c) const {
  if (level == ControlPlaneLevel::None) return;
  check_losses(c, losses, &ApiServerLossParams::server, api_servers.servers, "server");
}

// Below level `full` there are no services, and Events have their default size.
NodesParams ControlPlaneParams::nodes() const {
  const bool is_full = level == ControlPlaneLevel::Full;
  const PodEventsParams recorded = is_full && events ? *events : PodEventsParams{};
  return {.boot = {.join = node_join,
                   .heartbeats = kubelet.heartbeats,
                   .event_bytes = recorded.bytes,
                   .has_services = is_full && !services.groups.empty()},
          .lifecycle = node_lifecycle};
}

Duration unloaded(const ControlPlaneParams& params, const ApiRequest& request) {
  const ApiServerParams& server = params.api_servers.server;
  Duration time = server.cost.of(request);
  if (is_mutating(request.verb)) time += params.etcd.commit_time();
  if (server.egress.bits_per_s > 0) time += request.answer / server.egress;
  return time;
}

Duration unloaded_write(const ControlPlaneParams& params, Bytes bytes) {
  return unloaded(params, {.verb = Verb::Create, .bytes = bytes, .answer = bytes});
}

Duration unloaded_news(const ControlPlaneParams& params) {
  const ApiServerParams& server = params.api_servers.server;
  const Bytes bytes = params.pods.bytes;
  Duration time = nearest_ns(static_cast<double>(bytes.count) * server.cost.sent_byte * 1e-9);
  if (server.egress.bits_per_s > 0) time += bytes / server.egress;
  return time;
}

}  // namespace orrery
