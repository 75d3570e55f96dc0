// models/cluster_nodes.cpp -- nodes that fail, boot and join, and who is told.
#include <algorithm>
#include <numeric>
#include <utility>

#include "models/cluster.hpp"
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

}  // namespace

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
  nodes_.emplace(sim_, params, *api, zones_of(params, ground_.built),
                 joining_of(params.joins, ground_.built));
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
  nodes_->pods_gone.connect([this](NodeId node) { controller_.pods_gone(node); });
  if (!control_plane_) return;
  control_plane_->cut_off.connect([this](bool is_cut_off) { nodes_->set_cut_off(is_cut_off); });
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
