// models/control_plane/services/services_params.hpp -- services and watchers of their addresses, as
// a scenario describes them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/control_plane/services/endpoints_params.hpp"
#include "models/control_plane/services/watch_fan_out.hpp"
#include "sim/config/fields.hpp"

namespace orrery {

enum class ServiceMembers : uint8_t { Nodes, Pods, Jobs };
constexpr std::array<std::string_view, 3> enum_names(ServiceMembers) {
  return {"nodes", "pods", "jobs"};
}

struct ServiceGroupParams {
  static constexpr std::string_view kDoc = "Services of one kind.";
  std::string name = {};
  ServiceMembers members = ServiceMembers::Nodes;
  int32_t count = 1;
  std::optional<bool> headless = {};
  std::string team = {};

  template <class V>
  void fields(V& v) {
    v("name", name, "Name of the group in the rows of /timeline/watch.", Required{},
      Example{"kubelet"});
    v("members", members,
      "nodes: a pod on each node that is up, like the pods of a DaemonSet. pods: the started pods "
      "of all jobs. jobs: each job has services of its own, with the job's started pods.");
    v("count", count,
      "Number of equal services. If `members` is `jobs`, each job has this many services.",
      Range{1, 10'000}, Unit{"services"});
    v("headless", headless,
      "Whether the services have no cluster IP, so that kube-proxies may skip them. Absent: true "
      "if `members` is `jobs`, else false. Operators of MPI and training jobs create headless "
      "services.");
    v("team", team, "Only pods or jobs of this team; empty: of all teams.",
      Heeded{members != ServiceMembers::Nodes, "members are nodes"});
  }
  void check(Checker& c) const;
  bool is_headless() const { return headless.value_or(members == ServiceMembers::Jobs); }
};

struct ServiceWatchersParams {
  static constexpr std::string_view kDoc = "Clients that watch the addresses of all services.";
  bool kube_proxies = true;
  int32_t daemons = 0, agents = 0, controllers = 0;

  template <class V>
  void fields(V& v) {
    v("kube_proxies", kube_proxies,
      "Whether the kube-proxy of each node that is up watches Endpoints or EndpointSlices.",
      Source{"Kubernetes"});
    v("daemons", daemons, "Number of watching DaemonSet pods on each node that is up.",
      Range{0, 100}, Unit{"pods"}, Source{"by default only kube-proxies watch"});
    v("agents", agents,
      "Number of agents in the cluster that watch in place of the `daemons`, and forward the "
      "events to them; 0: no agents, so the daemons watch.",
      Range{0, 10'000}, Unit{"clients"}, Source{"by default there are none"});
    v("controllers", controllers,
      "Number of other watchers, such as ingress controllers and Prometheus.", Range{0, 100'000},
      Unit{"clients"}, Source{"by default there are none"});
  }
  void check(Checker& c) const {
    if (agents > 0 && daemons == 0) c.error("agents", "has no effect without `daemons`");
  }
  bool is_nobody() const { return !kube_proxies && daemons == 0 && controllers == 0; }
};

struct ServicesParams {
  static constexpr std::string_view kDoc =
      "Services, the addresses of their pods, and the costs of their watch events.";
  std::vector<ServiceGroupParams> groups = {};
  EndpointsParams endpoints = {};
  ServiceWatchersParams watchers = {};
  WatchFanOutParams fan_out = {};

  template <class V>
  void fields(V& v) {
    v("groups", groups,
      "Groups of equal services. Without groups, no Endpoints or EndpointSlices are written.");
    v("endpoints", endpoints, "The objects that hold the addresses of a service's pods.",
      Heeded{!groups.empty(), "there are no groups"});
    v("watchers", watchers, "Which clients watch the Endpoints or EndpointSlices.",
      Heeded{!groups.empty(), "there are no groups"});
    v("fan_out", fan_out, "Cost of watch events for an API server.",
      Heeded{!groups.empty(), "there are no groups"},
      Heeded{!watchers.is_nobody(), "there are no watchers"});
  }
  void check(Checker& c) const;
};

}  // namespace orrery
