// models/control_plane/control_plane_params.hpp -- the section `control_plane` of a scenario.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "models/control_plane/api_server/api_server_params.hpp"
#include "models/control_plane/api_server/pod_object_params.hpp"
#include "models/control_plane/autoscaling/node_group_params.hpp"
#include "models/control_plane/clients/pod_clients_params.hpp"
#include "models/control_plane/etcd/etcd_params.hpp"
#include "models/control_plane/kubelet/kubelet_params.hpp"
#include "models/control_plane/load/crash_loops_params.hpp"
#include "models/control_plane/load/namespaces_params.hpp"
#include "models/control_plane/load/pod_events_params.hpp"
#include "models/control_plane/nodes/node_join_params.hpp"
#include "models/control_plane/nodes/node_lifecycle_params.hpp"
#include "models/control_plane/nodes/nodes_params.hpp"
#include "models/control_plane/services/services_params.hpp"
#include "models/facts/fact.hpp"
#include "sim/config/fields.hpp"

namespace orrery {

enum class ControlPlaneLevel : uint8_t { None, Delays, Full };
constexpr std::array<std::string_view, 3> enum_names(ControlPlaneLevel) {
  return {"none", "delays", "full"};
}

struct ApiServerLossParams {
  static constexpr std::string_view kDoc =
      "An API server that is lost. Its clients retry. A watch resumes on another server if that "
      "server's watch cache holds all changes since the watch's last event; else the client lists "
      "again.";
  int32_t server = 0;
  Duration at = {};
  std::optional<Duration> until = {};

  template <class V>
  void fields(V& v) {
    v("server", server, "Index of the server, from 0.", Range{0, 999});
    v("at", at, "Time of the loss, from the start of the run.", Required{}, Example{"10min"},
      IsInstant{});
    v("until", until, "When the server is back, from the start of the run; absent: never.");
  }
  void check(Checker& c) const {
    if (until && *until <= at) c.error("until", "must be after `at`");
  }
};

struct ControlPlaneParams {
  static constexpr std::string_view kDoc =
      "Delays of pods and nodes by the Kubernetes control plane.";
  ControlPlaneLevel level = ControlPlaneLevel::None;
  ApiServersParams api_servers = {};
  PodClientsParams clients = {};
  EtcdParams etcd = {};
  PodObjectParams pods = {};
  KubeletParams kubelet = {};
  ImagePullParams image_pulls = {};
  std::optional<PodEventsParams> events = {};
  std::vector<CrashLoopingPodsParams> crash_loops = {};
  std::optional<NamespacesParams> namespaces = {};
  ServicesParams services = {};
  std::vector<ApiServerLossParams> losses = {};
  NodeJoinParams node_join = {};
  std::vector<JoinParams> joins = {};
  NodeLifecycleParams node_lifecycle = {};
  std::optional<NodeGroupsParams> autoscaler = {};

  template <class V>
  void fields(V& v) {
    v("level", level,
      "none: no delays. delays: each request takes as long as without other load, and kubelets "
      "need time to start pods. full: requests wait for the rate limits of their clients, for "
      "seats and cores of API servers, and for etcd; API servers may be lost.");
    v("api_servers", api_servers, "The API servers.", Heeded{Fact::ControlPlane});
    v("clients", clients, "Rate limits and retries of the API servers' clients.",
      Heeded{Fact::FullPlane});
    v("etcd", etcd, "The store behind the API servers.", Heeded{Fact::ControlPlane});
    v("pods", pods, "Size of a Pod object, and number of clients that watch pods.",
      Heeded{Fact::ControlPlane});
    v("kubelet", kubelet, "The agent on each node.", Heeded{Fact::ControlPlane});
    v("image_pulls", image_pulls, "How nodes pull images of pods (`pod.image`).",
      Heeded{Fact::ControlPlane}, Heeded{Fact::Images});
    v("events", events,
      "Events about pods, and clients that list Events. Absent: no Events about pods, and no such "
      "clients.",
      Heeded{Fact::FullPlane});
    v("crash_loops", crash_loops, "Pods whose containers crash again and again.",
      Heeded{Fact::FullPlane});
    v("namespaces", namespaces,
      "Namespaces, and clients that query them. Absent: namespaces cause no load.",
      Heeded{Fact::FullPlane});
    v("services", services, "Services, and clients that watch their Endpoints or EndpointSlices.",
      Heeded{Fact::FullPlane});
    v("losses", losses, "API servers that are lost.", Heeded{Fact::FullPlane});
    v("node_join", node_join, "Requests that a node sends at each boot.",
      Heeded{Fact::ControlPlane}, Heeded{Fact::NodeBoots});
    v("joins", joins, "Nodes that are absent at the start and join later.",
      Heeded{Fact::ControlPlane});
    v("node_lifecycle", node_lifecycle,
      "When dead nodes are detected, and when their pods are evicted.", Heeded{Fact::ControlPlane},
      Heeded{Fact::SilentNodes});
    v("autoscaler", autoscaler,
      "Pools to which an autoscaler adds nodes and from which it removes nodes. Absent: no pool "
      "is scaled.",
      Heeded{Fact::ControlPlane});
  }
  void check(Checker& c) const;
  bool reads_etcd() const;
  bool has_readers() const;  // whether clients list Events or ServiceAccounts
  NodesParams nodes() const;
};

// Duration of the request without other load.
Duration unloaded(const ControlPlaneParams& params, const ApiRequest& request);
// Duration of the write of an object of `bytes` without other load.
Duration unloaded_write(const ControlPlaneParams& params, Bytes bytes);
// Time from when a write of a pod is stored until a watching client has the event, without other
// load.
Duration unloaded_news(const ControlPlaneParams& params);

}  // namespace orrery
