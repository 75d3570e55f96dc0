#include "models/control_plane/control_plane_params.hpp"

#include <algorithm>
#include <span>
#include <string>

#include "models/control_plane/base/losses.hpp"

namespace orrery {
namespace {

// Kubelets list from the watch cache.
void refuse_unused(const ControlPlaneParams& params, Checker& c) {
  const auto refuse = [&](std::span<const std::string_view> fields, std::string_view why) {
    for (const std::string_view field : fields) {
      if (c.is_given(field)) c.idle(field, std::string{why});
    }
  };
  constexpr std::string_view kReads[] = {"api_servers.server.cost.stored_object",
                                         "api_servers.server.cost.stored_byte",
                                         "etcd.read_latency",
                                         "etcd.read_rate_max",
                                         "etcd.read_bandwidth",
                                         "etcd.read_object",
                                         "etcd.read_byte",
                                         "etcd.blocking_reads"};
  constexpr std::string_view kMembers[] = {"etcd.members"};
  const bool is_full = params.level == ControlPlaneLevel::Full;
  const bool reads = is_full && params.reads_etcd();
  const bool loses =
      is_full && (!params.etcd.losses.empty() || !params.etcd.defragmentations.empty());
  if (!reads) {
    refuse(
        kReads,
        "has no effect: nothing is read from etcd without readers of events or namespaces that do");
    if (!loses) {
      refuse(kMembers,
             "has no effect: nothing is read from etcd, and no member is lost or defragmented");
    }
  }
  constexpr std::string_view kTimes[] = {"etcd.read_rate_max", "etcd.read_bandwidth",
                                         "etcd.read_object", "etcd.read_byte",
                                         "etcd.blocking_reads"};
  if (reads && params.etcd.read_latency == Duration{}) {
    refuse(kTimes, "has no effect: with etcd.read_latency 0 reads take no time");
    if (!loses) {
      refuse(kMembers,
             "has no effect: with etcd.read_latency 0 reads take no time, and no member is lost or "
             "defragmented");
    }
  }
  constexpr std::string_view kOthers[] = {"clients.others"}, kCrashes[] = {"kubelet.crash_loop"};
  const ServiceWatchersParams& watchers = params.services.watchers;
  const bool watch = watchers.controllers > 0 || watchers.agents > 0;
  if (!params.has_readers() && !watch && !(params.namespaces && params.namespaces->per_job)) {
    refuse(kOthers,
           "has no effect without readers of events or namespaces, namespaces.per_job, or "
           "controllers or agents that watch services");
  }
  constexpr std::string_view kAddresses[] = {"node_join.slices", "node_join.slice_bytes"};
  if (params.level == ControlPlaneLevel::Full && !params.services.groups.empty()) {
    refuse(kAddresses, "has no effect with services: nodes list their addresses");
  }
  if (params.crash_loops.empty()) refuse(kCrashes, "has no effect without crash_loops");
}

}  // namespace

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
  constexpr std::string_view kSections[] = {
      "api_servers", "clients",   "etcd",        "pods",           "kubelet",
      "image_pulls", "events",    "crash_loops", "namespaces",     "services",
      "losses",      "node_join", "joins",       "node_lifecycle", "autoscaler"};
  if (level == ControlPlaneLevel::None) {
    for (const std::string_view section : kSections) {
      if (c.is_given(section)) c.idle(section, "has an effect only with level: delays or full");
    }
    return;
  }
  refuse_unused(*this, c);
  if (level == ControlPlaneLevel::Delays) {
    constexpr std::string_view kFullOnly[] = {"clients",
                                              "services",
                                              "losses",
                                              "events",
                                              "crash_loops",
                                              "namespaces",
                                              "kubelet.crash_loop",
                                              "image_pulls.registry",
                                              "image_pulls.parallel",
                                              "api_servers.servers",
                                              "api_servers.balance",
                                              "api_servers.flow_control",
                                              "api_servers.server.cores",
                                              "api_servers.server.heap",
                                              "api_servers.server.request_timeout",
                                              "api_servers.server.restart_time",
                                              "etcd.compaction_interval",
                                              "etcd.defragmentations",
                                              "etcd.quota",
                                              "etcd.write_rate_max",
                                              "etcd.request_max",
                                              "etcd.event_ttl",
                                              "etcd.separate_events",
                                              "etcd.losses",
                                              "etcd.election_timeout",
                                              "pods.watchers",
                                              "kubelet.status_writes",
                                              "kubelet.heartbeats.status_period"};
    for (const std::string_view field : kFullOnly) {
      if (c.is_given(field)) c.idle(field, "has an effect only with level: full");
    }
  }
  if (joins.empty() && !autoscaler && c.is_given("node_join.certificate_requests")) {
    c.idle("node_join.certificate_requests",
           "has an effect only with joins or an autoscaler: who comes back has its certificate");
  }
  if (joins.empty() && !autoscaler && c.is_given("node_join.rate_max")) {
    c.idle("node_join.rate_max",
           "has an effect only with joins or an autoscaler: who comes back is not held up");
  }
  for (size_t i = 0; i < joins.size(); ++i) {
    if (joins[i].nodes != 1 || joins[i].over == Duration{}) continue;
    c.idle("joins[" + std::to_string(i) + "].over", "has no effect on a single node");
  }
  check_losses(c, losses, &ApiServerLossParams::server, api_servers.servers, "server");
}

// Without API servers of their own, Events have their usual size and services are not modelled.
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
