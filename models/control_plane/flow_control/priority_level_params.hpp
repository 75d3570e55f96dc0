// models/control_plane/flow_control/priority_level_params.hpp -- priority levels and flow schemas,
// as a scenario describes them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/control_plane/base/request.hpp"
#include "models/control_plane/flow_control/flow_control_setup.hpp"
#include "sim/config/fields.hpp"
#include "sim/core/enum_names.hpp"

namespace orrery {

enum class ApiClientKind : uint8_t {
  Masters,
  Probe,
  Kubelet,
  KubeProxy,
  ControllerManager,
  EndpointController,
  Scheduler,
  KubeSystem,
  ServiceAccount,
  User,
};
inline constexpr size_t kApiClientKinds = 10;
constexpr std::array<std::string_view, kApiClientKinds> enum_names(ApiClientKind) {
  return {"masters",
          "probe",
          "kubelet",
          "kube_proxy",
          "controller_manager",
          "endpoint_controller",
          "scheduler",
          "kube_system",
          "service_account",
          "user"};
}

enum class FlowDistinguisher : uint8_t { None, User, Namespace };
constexpr std::array<std::string_view, 3> enum_names(FlowDistinguisher) {
  return {"none", "user", "namespace"};
}

struct PriorityLevelParams {
  static constexpr std::string_view kDoc =
      "A priority level: its seats, and the queues in which requests wait for a seat.";
  std::string name = {};
  LevelKind kind = LevelKind::Queue;
  int32_t shares = 30;
  double lendable = 0;
  std::optional<double> borrowing_limit = {};
  int32_t queues = 64, hand_size = 8, queue_length = 50;

  template <class V>
  void fields(V& v) {
    v("name", name, "Name by which flow schemas refer to the level.", Required{},
      Example{"workload-low"});
    v("kind", kind,
      "exempt: requests start at once; queue: requests wait in queues if no seat is free; reject: "
      "requests are rejected if no seat is free.");
    v("shares", shares,
      "The seats of a server are divided among the levels in proportion to their shares.",
      Range{0, 100'000}, Unit{"shares"},
      Source{"Kubernetes 1.24: limited.nominalConcurrencyShares"});
    v("lendable", lendable, "Part of the level's seats that other levels may borrow.",
      Range{0.0, 100.0}, Unit{"%"}, Source{"Kubernetes 1.26: limited.lendablePercent"});
    v("borrowing_limit", borrowing_limit,
      "How many seats the level may borrow, relative to its own seats; absent: no limit.",
      Range{0.0, 1e5}, Unit{"%"}, Source{"Kubernetes 1.26: limited.borrowingLimitPercent"});
    v("queues", queues, "Number of queues in which requests wait for a seat.", Range{1, 10'000},
      Unit{"queues"}, Source{"Kubernetes: limitResponse.queuing.queues"});
    v("hand_size", hand_size, "Number of queues that one flow may use.", Range{1, 16},
      Unit{"queues"}, Source{"Kubernetes: limitResponse.queuing.handSize"});
    v("queue_length", queue_length, "Maximum number of requests that may wait in one queue.",
      Range{1, 1'000'000'000}, Unit{"requests"},
      Source{"Kubernetes: limitResponse.queuing.queueLengthLimit"});
  }
  void check(Checker& c) const;
};

struct FlowSchemaParams {
  static constexpr std::string_view kDoc = "Which requests go to which priority level.";
  std::string name = {};
  int32_t precedence = 1000;
  std::vector<ApiClientKind> clients = {};
  std::vector<ApiResource> resources = {};
  std::string level = {};
  FlowDistinguisher distinguisher = FlowDistinguisher::User;

  template <class V>
  void fields(V& v) {
    v("name", name,
      "A unique name. Of schemas with equal precedence, the one whose name is first in "
      "alphabetical order decides.",
      Required{}, Example{"system-nodes"});
    v("precedence", precedence,
      "Of the schemas that match a request, the one with the lowest number decides.",
      Range{1, 10'000}, Unit{"rank"},
      Source{"Kubernetes: spec.matchingPrecedence, 1000 by default"});
    v("clients", clients, "Kinds of clients whose requests match; empty: all.");
    v("resources", resources, "Resources whose requests match; empty: all.");
    v("level", level, "Name of the priority level.", Required{}, Example{"system"});
    v("distinguisher", distinguisher,
      "How requests are divided into flows. none: all requests of the schema are one flow; user: "
      "one flow for each user; namespace: one flow for each namespace. The pods, Events "
      "and services of a job are in the namespace of the job's team. With namespaces.per_job, each "
      "job has its own namespace.",
      Source{"Kubernetes: spec.distinguisherMethod, ByUser or ByNamespace; absent: none"});
  }
};

std::vector<PriorityLevelParams> default_priority_levels();
std::vector<FlowSchemaParams> default_flow_schemas();

}  // namespace orrery
