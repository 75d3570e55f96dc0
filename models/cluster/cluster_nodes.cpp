// models/cluster/cluster_nodes.cpp -- wiring of node failures, boots, joins and services.
#include <algorithm>
#include <numeric>
#include <utility>

#include "models/cluster/cluster.hpp"
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

// How many nodes of its pool each entry takes.
std::vector<size_t> counts_of(const std::vector<JoinParams>& joins, const BuiltPools& built) {
  std::vector<size_t> counts;
  for (const JoinParams& join : joins) {
    counts.push_back(join.nodes ? static_cast<size_t>(*join.nodes)
                                : nodes_of(built, join.pool).size());
  }
  return counts;
}

// All entries for the pool of the index-th, from there on.
size_t count_from(const std::vector<JoinParams>& joins, const std::vector<size_t>& counts,
                  size_t index) {
  size_t sum = 0;
  for (size_t i = index; i < joins.size(); ++i) {
    if (joins[i].pool == joins[index].pool) sum += counts[i];
  }
  return sum;
}

std::vector<Nodes::Joining> joining_of(const std::vector<JoinParams>& joins,
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

std::vector<ClusterAutoscaler::Group> groups_of(const ControlPlaneParams& params,
                                                const BuiltPools& built) {
  std::vector<ClusterAutoscaler::Group> groups;
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
    text += " has " + std::to_string(has) + " nodes; with this, " + std::to_string(taken);
    fail(i, "nodes", text + " are to join");
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
      fail("pool", "nodes of it join by control_plane.joins; leave them to one of the two");
    }
    const auto has = static_cast<int64_t>(nodes_of(built, group.pool).size());
    const std::string pool = "pool " + in_quotes(group.pool) + " has " + std::to_string(has);
    if (group.nodes_max.value_or(0) > has) fail("nodes_max", pool + " nodes");
    if (group.at_start() > has) {
      fail(group.nodes_at_start ? "nodes_at_start" : "nodes_min", pool + " nodes");
    }
  }
}

}  // namespace

void check_control_plane(const ControlPlaneParams& params, const BuiltPools& built,
                         const config::Node& section, Diagnostics& diagnostics) {
  check_joins(params.joins, built, section, diagnostics);
  check_autoscaler(params, built, section, diagnostics);
  check_crash_loops(params.crash_loops, built, section, diagnostics);
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
    use(control_plane_.emplace(sim_, params, ground_.jobs,
                               static_cast<uint32_t>(ground_.state.nodes())));
  } else {
    use(pod_delays_.emplace(sim_.engine, params, ground_.jobs,
                            static_cast<uint32_t>(ground_.state.nodes())));
  }
  std::vector<Nodes::Joining> joining = joining_of(params.joins, ground_.built);
  for (const ClusterAutoscaler::Group& group : groups_of(params, ground_.built)) {
    const auto there = std::min(static_cast<size_t>(group.params.at_start()), group.nodes.size());
    for (size_t i = there; i < group.nodes.size(); ++i) {
      joining.push_back({group.nodes[i], Time::max()});
    }
  }
  nodes_.emplace(sim_, params.nodes(), *api, zones_of(params, ground_.built), std::move(joining));
  if (!params.autoscaler) return;
  autoscaler_.emplace(
      ClusterAutoscaler::Context{.sim = sim_,
                                 .cluster = ground_.state,
                                 .jobs = ground_.jobs,
                                 .scheduler = scheduler_,
                                 .lifecycle = nodes_->health().lifecycle(),
                                 .may_come = [this](NodeId n) { return !faults_.is_broken(n); }},
      *params.autoscaler, groups_of(params, ground_.built));
}

void Cluster::wire_faults() {
  faults_.node_down.connect([this](NodeId node) {
    scheduler_.node_down(node);
    if (job_queue_) job_queue_->node_changed(node, false);
    usage_.node_down(node);
    node_usage_.node_down(node);
    timeline_.node_down();
    deadlocks_.nodes_changed();
  });
  faults_.node_up.connect([this](NodeId node) {
    usage_.node_up(node);
    if (control_plane_) control_plane_->node_up(node);
    node_usage_.node_up(node);
    timeline_.node_up();
    deadlocks_.nodes_changed();
    scheduler_.node_up(node);
    if (job_queue_) job_queue_->node_changed(node, true);
  });
}

void Cluster::wire_nodes() {
  if (!nodes_) return;
  controller_.expect_news_of_nodes();
  faults_.let_boot();
  faults_.node_repaired.connect([this](NodeId node) { nodes_->boot(node); });
  faults_.boot_broken.connect([this](NodeId node) { nodes_->died(node); });
  faults_.node_struck.connect([this](NodeId node) {
    if (control_plane_) control_plane_->node_down(node);
    if (pod_delays_) pod_delays_->node_down(node);
    nodes_->died(node);
  });
  nodes_->comes.connect([this](NodeId node) { faults_.release(node); });
  nodes_->registered.connect([this](NodeId) {
    if (control_plane_) control_plane_->node_registered();
  });
  nodes_->ready.connect([this](NodeId node) { faults_.booted(node); });
  nodes_->pods_gone.connect(
      [this](NodeId node, Time lost_by) { controller_.pods_gone(node, lost_by); });
  if (!control_plane_) return;
  control_plane_->cut_off.connect([this](bool is_cut_off) { nodes_->set_cut_off(is_cut_off); });
}

void Cluster::wire_autoscaler() {
  if (!autoscaler_) return;
  ClusterAutoscaler& a = *autoscaler_;
  scheduler_.no_node_found.connect([&a](PodId unit) { a.no_node_found(unit); });
  scheduler_.pod_assigned.connect([&a](PodId pod, NodeId node) { a.pod_assigned(pod, node); });
  scheduler_.pod_unassigned.connect([&a](PodId pod, NodeId node) { a.pod_unassigned(pod, node); });
  controller_.pod_removed.connect([&a](PodId pod) { a.pod_removed(pod); });
  nodes_->registered.connect([&a](NodeId node) { a.node_registered(node); });
  nodes_->ready.connect([&a](NodeId node) { a.node_ready(node); });
  a.comes.connect([this](NodeId node) { faults_.release(node); });
  a.goes.connect([this](NodeId node) { take_away(node); });
}

void Cluster::wire_services() {
  if (!services_) return;
  ServiceScaling& s = *services_;
  controller_.job_arrived.connect([&s](JobId job) { s.job_arrived(job); });
  controller_.pod_runs.connect([&s](PodId pod) { s.pod_runs(pod); });
  controller_.pod_removed.connect([&s](PodId pod) { s.pod_removed(pod); });
  controller_.job_over.connect([&s](JobId job) { s.job_over(job); });
}

// As if it died, but nobody repairs it, and that its pods are gone is known at once.
void Cluster::take_away(NodeId node) {
  const bool was_up = ground_.state.up().contains(node);
  faults_.hold(node);
  if (was_up && control_plane_) control_plane_->node_down(node);
  if (was_up && pod_delays_) pod_delays_->node_down(node);
  if (nodes_->removed(node) && control_plane_) control_plane_->node_deregistered(node);
  if (was_up) {
    controller_.node_failed(node);
    scheduler_.node_down(node);
    usage_.node_down(node);
    node_usage_.node_absent(node);
    timeline_.node_absent();
    deadlocks_.nodes_changed();
  }
  nodes_->pods_removed(node);
}

// Nobody has ever seen them.
void Cluster::hold_joining() {
  for (const Nodes::Joining& joining : nodes_->joining()) {
    faults_.hold(joining.node);
    if (job_queue_) job_queue_->node_changed(joining.node, false);
    usage_.node_down(joining.node);
    node_usage_.node_absent(joining.node);
    timeline_.node_absent();
    if (control_plane_) control_plane_->node_absent(joining.node);
  }
}

}  // namespace orrery
