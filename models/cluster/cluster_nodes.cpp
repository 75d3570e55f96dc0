// models/cluster/cluster_nodes.cpp -- builds a cluster's control plane, autoscaled node groups and
// controllers. Checks the section `control_plane` against the nodes.
#include <algorithm>
#include <numeric>
#include <utility>

#include "models/cluster/cluster.hpp"
#include "models/scheduling/contract/policy_registry.hpp"
#include "sim/core/check.hpp"

namespace orrery {
namespace {

std::vector<uint32_t> zones_of(const ControlPlaneParams& params, const BuiltPools& built) {
  std::vector<uint32_t> zones(built.pool_of.size(), 0);
  if (params.node_lifecycle.zones == NodeZones::Pools) {
    std::ranges::copy(built.pool_of, zones.begin());
  }
  return zones;
}

std::vector<NodeId> nodes_of(const BuiltPools& built, std::string_view pool) {
  std::vector<NodeId> nodes;
  for (uint32_t n = 0; n < built.pool_of.size(); ++n) {
    if (built.pools[built.pool_of[n]] == pool) nodes.push_back({n});
  }
  return nodes;
}

// The number of nodes that each entry of `joins` adds: its `nodes`, by default its whole pool.
std::vector<size_t> counts_of(const std::vector<JoinParams>& joins, const BuiltPools& built) {
  std::vector<size_t> counts;
  for (const JoinParams& join : joins) {
    counts.push_back(join.nodes ? static_cast<size_t>(*join.nodes)
                                : nodes_of(built, join.pool).size());
  }
  return counts;
}

// The number of nodes that entry `index` and the later entries of the same pool add. These nodes
// are the last nodes of the pool.
size_t count_from(const std::vector<JoinParams>& joins, const std::vector<size_t>& counts,
                  size_t index) {
  size_t sum = 0;
  for (size_t i = index; i < joins.size(); ++i) {
    if (joins[i].pool == joins[index].pool) sum += counts[i];
  }
  return sum;
}

std::vector<Nodes::Joining> listed_joins(const std::vector<JoinParams>& joins,
                                         const BuiltPools& built) {
  const std::vector<size_t> counts = counts_of(joins, built);
  std::vector<Nodes::Joining> joining;
  for (size_t i = 0; i < joins.size(); ++i) {
    const std::vector<NodeId> pool = nodes_of(built, joins[i].pool);
    const size_t first = pool.size() - count_from(joins, counts, i);
    for (size_t k = 0; k < counts[i]; ++k) {
      const double part = static_cast<double>(k) / static_cast<double>(counts[i]);
      const Duration later = nearest_ns(joins[i].over.seconds() * part);
      joining.push_back({pool[first + k], Time{} + joins[i].at + later});
    }
  }
  return joining;
}

std::vector<NodeGroups::Group> groups_of(const ControlPlaneParams& params,
                                         const BuiltPools& built) {
  std::vector<NodeGroups::Group> groups;
  if (!params.autoscaler) return groups;
  for (const NodeGroupParams& group : params.autoscaler->groups) {
    groups.push_back({group, nodes_of(built, group.pool)});
  }
  return groups;
}

void check_joins(const std::vector<JoinParams>& joins, const BuiltPools& built,
                 const config::Node& section, Diagnostics& diagnostics) {
  const config::Node& listed = section["joins"];
  const auto fail = [&](size_t i, const std::string& field, std::string message) {
    const bool is_listed = i < listed.items.size();
    const config::Node* const value = is_listed ? listed.items[i].find(field) : nullptr;
    const config::Node& at = is_listed ? listed.items[i] : section;
    diagnostics.error(value != nullptr ? value->position : at.position,
                      "control_plane.joins[" + std::to_string(i) + "]." + field,
                      std::move(message));
  };
  const std::vector<size_t> counts = counts_of(joins, built);
  for (size_t i = 0; i < joins.size(); ++i) {
    const std::string& pool = joins[i].pool;
    if (std::ranges::find(built.pools, pool) == built.pools.end()) {
      std::string text = "no pool is called " + in_quotes(pool);
      fail(i, "pool", text + did_you_mean(pool, built.pools));
      continue;
    }
    const size_t has = nodes_of(built, pool).size();
    size_t taken = 0;
    for (size_t before = 0; before <= i; ++before) {
      if (joins[before].pool == pool) taken += counts[before];
    }
    if (taken <= has) continue;
    std::string text = "pool " + in_quotes(pool);
    text += " has " + std::to_string(has) + " nodes; this entry and earlier ones of the pool ask ";
    fail(i, "nodes", text + std::to_string(taken) + " to join");
  }
}

void check_crash_loops(const std::vector<CrashLoopingPodsParams>& loops, const BuiltPools& built,
                       const config::Node& section, Diagnostics& diagnostics) {
  const config::Node& listed = section["crash_loops"];
  const auto has = static_cast<int64_t>(built.pool_of.size());
  for (size_t i = 0; i < loops.size(); ++i) {
    if (loops[i].nodes <= has) continue;
    const config::Node& at = i < listed.items.size() ? listed.items[i] : section;
    const config::Node* const value = at.find("nodes");
    diagnostics.error(value != nullptr ? value->position : at.position,
                      "control_plane.crash_loops[" + std::to_string(i) + "].nodes",
                      "the cluster has " + std::to_string(has) + " nodes");
  }
}

void check_autoscaler(const ControlPlaneParams& params, const BuiltPools& built,
                      const config::Node& section, Diagnostics& diagnostics) {
  if (!params.autoscaler) return;
  const config::Node& listed = section["autoscaler"]["groups"];
  const std::vector<NodeGroupParams>& groups = params.autoscaler->groups;
  for (size_t i = 0; i < groups.size(); ++i) {
    const auto fail = [&](const std::string& field, std::string message) {
      const config::Node& at = i < listed.items.size() ? listed.items[i] : section;
      const config::Node* const value = at.find(field);
      diagnostics.error(value != nullptr ? value->position : at.position,
                        "control_plane.autoscaler.groups[" + std::to_string(i) + "]." + field,
                        std::move(message));
    };
    const NodeGroupParams& group = groups[i];
    if (std::ranges::find(built.pools, group.pool) == built.pools.end()) {
      fail("pool",
           "no pool is called " + in_quotes(group.pool) + did_you_mean(group.pool, built.pools));
      continue;
    }
    if (std::ranges::find(params.joins, group.pool, &JoinParams::pool) != params.joins.end()) {
      fail("pool",
           "the pool is also in control_plane.joins; it may be in joins or in autoscaler.groups, "
           "not in both");
    }
    const auto has = static_cast<int64_t>(nodes_of(built, group.pool).size());
    const std::string pool = "pool " + in_quotes(group.pool) + " has " + std::to_string(has);
    if (group.nodes_max.value_or(0) > has) fail("nodes_max", pool + " nodes");
    if (group.at_start() > has) {
      fail(group.nodes_at_start ? "nodes_at_start" : "nodes_min", pool + " nodes");
    }
  }
}

// Adds ClusterAutoscaler if there are node groups and no policy of policy.controllers scales pools.
std::vector<ControllerParams> controllers_of(const Scenario& scenario) {
  std::vector<ControllerParams> controllers = scenario.policy.controllers;
  const auto scales = [](const ControllerParams& params) {
    const auto* const entry = PolicyRegistry::instance().find(params.name);
    return entry->has_trait(Trait::ScalesPools, params.args);
  };
  const ControlPlaneParams& plane = scenario.control_plane;
  const bool has_groups = plane.level != ControlPlaneLevel::None && plane.autoscaler;
  if (has_groups && std::ranges::none_of(controllers, scales)) {
    controllers.push_back({.name = "ClusterAutoscaler", .args = {}});
  }
  return controllers;
}

}  // namespace

void check_control_plane(const ControlPlaneParams& params, const BuiltPools& built,
                         const config::Node& section, Diagnostics& diagnostics) {
  check_joins(params.joins, built, section, diagnostics);
  check_autoscaler(params, built, section, diagnostics);
  check_crash_loops(params.crash_loops, built, section, diagnostics);
}

std::vector<Nodes::Joining> Cluster::joining_of(const Scenario& scenario, const BuiltPools& built) {
  const ControlPlaneParams& params = scenario.control_plane;
  if (params.level == ControlPlaneLevel::None) return {};
  std::vector<Nodes::Joining> joining = listed_joins(params.joins, built);
  for (const NodeGroups::Group& group : groups_of(params, built)) {
    const auto there = std::min(static_cast<size_t>(group.params.at_start()), group.nodes.size());
    for (size_t i = there; i < group.nodes.size(); ++i) {
      joining.push_back({group.nodes[i], Time::max()});
    }
  }
  return joining;
}

std::vector<NodeId> Cluster::absent_at_start(const Scenario& scenario, const BuiltPools& built) {
  std::vector<NodeId> nodes;
  for (const Nodes::Joining& joining : joining_of(scenario, built)) nodes.push_back(joining.node);
  return nodes;
}

void Cluster::make_control_plane(const Scenario& scenario) {
  const ControlPlaneParams& params = scenario.control_plane;
  if (params.level == ControlPlaneLevel::None) return;
  NodeApi* api = nullptr;
  const auto use = [&](auto& plane) {
    controller_.use(plane);
    scheduler_.use(plane);
    api = &plane;
  };
  if (params.level == ControlPlaneLevel::Full) {
    use(control_plane_.emplace(sim_, params, ground_.jobs, presence_, controller_));
  } else {
    use(pod_delays_.emplace(sim_.engine, params, ground_.jobs, presence_, controller_));
  }
  nodes_.emplace(sim_, params.nodes(), *api, presence_, zones_of(params, ground_.built),
                 joining_of(scenario, ground_.built));
  if (!params.autoscaler) return;
  node_groups_.emplace(NodeGroups::Context{.sim = sim_,
                                           .cluster = ground_.state,
                                           .placements = scheduler_.placements(),
                                           .lifecycle = nodes_->health().lifecycle(),
                                           .presence = presence_},
                       *params.autoscaler, groups_of(params, ground_.built));
}

void Cluster::make_controllers(const Scenario& scenario) {
  const std::vector<ControllerParams> controllers = controllers_of(scenario);
  const auto& budgets = scenario.workload.disruption_budgets;
  if (controllers.empty() && budgets.empty()) return;
  Controllers::Parts parts{.cluster = ground_.state,
                           .jobs = ground_.jobs,
                           .controller = controller_,
                           .scheduler = scheduler_,
                           .presence = presence_,
                           .has_job_queue = scenario.policy.job_queue.has_value()};
  if (nodes_) parts.lifecycle = &nodes_->health().lifecycle();
  if (control_plane_) parts.api = &*control_plane_;
  if (pod_delays_) parts.api = &*pod_delays_;
  if (node_groups_) parts.groups = &*node_groups_;
  if (network_) parts.ports_down = [this](NodeId node) { return network_->ports_down(node); };
  controllers_.emplace(sim_, parts, controllers, budgets);
}

}  // namespace orrery
