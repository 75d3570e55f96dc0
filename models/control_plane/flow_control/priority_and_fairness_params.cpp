#include "models/control_plane/flow_control/priority_and_fairness_params.hpp"

#include <algorithm>

#include "models/control_plane/flow_control/shuffle_sharding.hpp"

namespace orrery {

void PriorityLevelParams::check(Checker& c) const {
  if (name.empty()) c.error("name", "must not be empty");
  if (kind != LevelKind::Queue) {
    for (const std::string_view field : {"queues", "hand_size", "queue_length"}) {
      if (c.is_given(field)) c.error(field, "has no effect where requests do not wait");
    }
    return;
  }
  if (hand_size > queues) c.error("hand_size", "must not exceed `queues`");
  if (hand_size <= queues && !has_enough_hashes(queues, hand_size)) {
    c.error("hand_size", "is too large for `queues`: 60 bits of hash cannot distinguish all hands");
  }
}

std::vector<std::string> FlowControlParams::level_names() const {
  std::vector<std::string> names;
  for (const PriorityLevelParams& level : levels) names.push_back(level.name);
  return names;
}

void FlowControlParams::check(Checker& c) const {
  constexpr size_t kLevelsMax = 32;
  const std::vector<std::string> names = level_names();
  if (levels.empty()) c.error("levels", "must name at least one level");
  if (levels.size() > kLevelsMax) c.error("levels", "must not be more than 32");
  int64_t shares = 0;
  for (size_t i = 0; i < levels.size(); ++i) {
    shares += levels[i].shares;
    const std::string where = "levels[" + std::to_string(i) + "]";
    if (std::ranges::find(names, names[i]) - names.begin() != static_cast<std::ptrdiff_t>(i)) {
      c.error(where + ".name", "two levels are called " + in_quotes(names[i]));
    }
  }
  if (!levels.empty() && shares == 0) c.error("levels", "must have shares");
  for (size_t i = 0; i < schemas.size(); ++i) {
    const auto is_earlier = std::ranges::find(schemas, schemas[i].name, &FlowSchemaParams::name) <
                            schemas.begin() + static_cast<std::ptrdiff_t>(i);
    if (is_earlier) {
      c.error("schemas[" + std::to_string(i) + "].name",
              "two schemas are called " + in_quotes(schemas[i].name));
    }
    if (std::ranges::find(names, schemas[i].level) != names.end()) continue;
    c.error("schemas[" + std::to_string(i) + "].level", "no priority level is called " +
                                                            in_quotes(schemas[i].level) +
                                                            did_you_mean(schemas[i].level, names));
  }
}

std::vector<PriorityLevelParams> default_priority_levels() {
  const auto queued = [](std::string name, int32_t shares, double lendable, int32_t queues,
                         int32_t hand) {
    PriorityLevelParams level{.name = std::move(name), .shares = shares, .lendable = lendable};
    level.queues = queues;
    level.hand_size = hand;
    return level;
  };
  return {{.name = "exempt", .kind = LevelKind::Exempt, .shares = 0, .lendable = 50},
          queued("leader-election", 10, 0, 16, 4),
          queued("node-high", 40, 25, 64, 6),
          queued("system", 30, 33, 64, 6),
          queued("workload-high", 40, 50, 128, 6),
          queued("workload-low", 100, 90, 128, 6),
          queued("global-default", 20, 50, 128, 6),
          {.name = "catch-all", .kind = LevelKind::Reject, .shares = 5}};
}

std::vector<FlowSchemaParams> default_flow_schemas() {
  using Kind = ApiClientKind;
  using Object = ApiResource;
  const auto by_user = FlowDistinguisher::User, by_namespace = FlowDistinguisher::Namespace;
  const std::vector<Kind> masters{Kind::Masters}, kubelets{Kind::Kubelet};
  return {
      {"exempt", 1, masters, {}, "exempt", FlowDistinguisher::None},
      {"probes", 2, {Kind::Probe}, {}, "exempt", FlowDistinguisher::None},
      {"system-leader-election",
       100,
       {Kind::ControllerManager, Kind::Scheduler},
       {Object::Leases},
       "leader-election",
       by_user},
      {"endpoint-controller",
       150,
       {Kind::EndpointController},
       {Object::Endpoints},
       "workload-high",
       by_user},
      {"workload-leader-election",
       200,
       {Kind::KubeSystem},
       {Object::Leases},
       "leader-election",
       by_user},
      {"system-node-high", 400, kubelets, {Object::Nodes, Object::Leases}, "node-high", by_user},
      {"system-nodes", 500, kubelets, {}, "system", by_user},
      {"kube-controller-manager",
       800,
       {Kind::ControllerManager, Kind::EndpointController},
       {},
       "workload-high",
       by_namespace},
      {"kube-scheduler", 800, {Kind::Scheduler}, {}, "workload-high", by_namespace},
      {"kube-system-service-accounts",
       900,
       {Kind::KubeSystem, Kind::KubeProxy},
       {},
       "workload-high",
       by_namespace},
      {"service-accounts", 9000, {Kind::ServiceAccount}, {}, "workload-low", by_user},
      {"global-default", 9900, {Kind::User}, {}, "global-default", by_user},
      {"catch-all", 10'000, {}, {}, "catch-all", by_user}};
}

}  // namespace orrery
