#include "models/scenario/cluster_params.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include "models/hardware/machine_catalogue.hpp"
#include "models/workload/traces/tables/openb_nodes.hpp"
#include "sim/core/check.hpp"
#include "sim/core/rng.hpp"

namespace orrery {
namespace {

constexpr int64_t kNodesMax = 1'000'000;
// Larger numbers are surely mistakes, and the search for each pool's machine would take long.
constexpr size_t kPoolsMax = 10'000, kMachinesMax = 1'000;

std::string name_of_machine(const MachineParams& machine) {
  return machine.name.empty() ? machine.base : machine.name;
}

uint16_t intern(std::vector<Machine>& machines, const Machine& machine) {
  const auto known = std::ranges::find(machines, machine.name, &Machine::name);
  if (known != machines.end()) return static_cast<uint16_t>(known - machines.begin());
  machines.push_back(machine);
  return static_cast<uint16_t>(machines.size() - 1);
}

NodeSpec node_like(const Machine& machine, int32_t pods_max, const std::string& pool) {
  NodeSpec node;
  node.allocatable[Resource::Cpu] = int64_t{machine.cpu.threads()} * kMilli;
  node.allocatable[Resource::Memory] = machine.memory.count;
  node.allocatable[Resource::Gpu] = int64_t{machine.gpus()} * kMilli;
  node.allocatable[Resource::Nic] = std::ranges::count(machine.nics, NicRole::Compute, &Nic::role);
  node.allocatable[Resource::Pods] = pods_max;
  node.labels.push_back({"pool", pool});
  node.labels.push_back({"node.kubernetes.io/instance-type", std::string{machine.name}});
  if (machine.gpus() > 0) {
    node.labels.push_back({std::string{kGpuProductLabel}, std::string{machine.gpu.name}});
  }
  return node;
}

Machine machine_called(const ClusterParams& params, const std::string& name) {
  const auto own = std::ranges::find_if(
      params.machines, [&](const MachineParams& m) { return name_of_machine(m) == name; });
  if (own != params.machines.end()) {
    Machine machine = resolve(*own);
    machine.name = name;
    return machine;
  }
  const Machine* const known = find_machine(name);
  ORRERY_CHECK(known != nullptr, "pools are checked before the run");
  return *known;
}

std::vector<uint32_t> order_of(const OpenbNodesParams& params, size_t nodes, Rng rng) {
  std::vector<uint32_t> order(nodes);
  std::iota(order.begin(), order.end(), 0U);
  if (!params.shuffle) return order;
  for (size_t i = nodes; i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
  return order;
}

// The leaf of the next node: its entry in `leaf_of` (from a topology file) or, without an entry,
// `own` (computed from nodes_per_leaf).
uint32_t leaf_of_next(const ClusterState& state, std::span<const uint32_t> leaf_of, uint32_t own) {
  return state.nodes() < leaf_of.size() ? leaf_of[state.nodes()] : own;
}

void add_openb(const OpenbNodesParams& params, Rng rng, BuiltPools& built, ClusterState& state,
               std::span<const uint32_t> leaf_of) {
  const OpenbNodeList list = read_openb_nodes(params.file);
  if (!list.errors.empty()) {
    built.error = list.errors.front();
    return;
  }
  const uint32_t first_leaf = state.leaves();
  const size_t nodes = list.nodes.size() * static_cast<size_t>(params.copies);
  if (state.nodes() + nodes > kNodesMax) {
    built.error = params.file + ": the copies would make " + std::to_string(nodes);
    built.error += " nodes; at most 1000000 are allowed in all";
    return;
  }
  for (const uint32_t i : order_of(params, nodes, rng)) {
    const OpenbNode& row = list.nodes[i % list.nodes.size()];
    const size_t copy = i / list.nodes.size();
    const auto stand_in = params.stand_ins.find(row.model);
    const bool is_known = stand_in == params.stand_ins.end();
    const Machine* const machine =
        find_machine_with(is_known ? row.model : stand_in->second, row.gpus);
    if (machine == nullptr) {
      built.error = params.file + ": node '" + row.name;
      built.error += "': no machine of the catalogue has " + std::to_string(row.gpus);
      built.error += " GPUs of model '" + (is_known ? row.model : stand_in->second);
      built.error += is_known ? "': map this model to another in stand_ins" : "' (stand_ins)";
      return;
    }
    NodeSpec node = node_like(*machine, params.pods_max, params.pool);
    if (row.gpus > 0) {
      std::ranges::find(node.labels, kGpuProductLabel, &NodeLabel::key)->value = row.model;
    }
    node.name = row.name;
    if (copy > 0) node.name.append("-copy").append(std::to_string(copy + 1));
    node.allocatable[Resource::Cpu] = row.cpu_milli;
    if (row.memory.count > 0) node.allocatable[Resource::Memory] = row.memory.count;
    node.machine = intern(built.machines, *machine);
    node.leaf =
        leaf_of_next(state, leaf_of, first_leaf + i / static_cast<uint32_t>(params.nodes_per_leaf));
    state.add_node(node);
    built.pool_of.push_back(static_cast<uint16_t>(built.pools.size()));
  }
  built.pools.push_back(params.pool);
}

// Orrery sets these labels itself, the last one only on nodes with GPUs. So a pool must not set
// them.
constexpr std::array<std::string_view, 4> kOwnLabels = {
    "pool", kHostnameLabel, "node.kubernetes.io/instance-type", kGpuProductLabel};

std::string place(std::string_view list, size_t index, std::string_view field = "") {
  std::string text{list};
  text.append("[").append(std::to_string(index)).append("]");
  return field.empty() ? text : text.append(".").append(field);
}

void check_labels(const PoolParams& pool, size_t index, Checker& c) {
  for (const auto& [key, value] : pool.labels) {
    if (key.empty()) c.error(place("pools", index, "labels"), "a label needs a key");
    if (std::ranges::find(kOwnLabels, key) == kOwnLabels.end()) continue;
    std::string text = "a pool cannot set the label '";
    text += key + "', because Orrery sets it";
    c.error(place("pools", index, "labels"), text);
  }
}

// Of two machines with the same name, pools would use only the first.
void check_machine_names(const std::vector<MachineParams>& machines, Checker& c) {
  std::set<std::string> seen;
  for (size_t i = 0; i < machines.size(); ++i) {
    const std::string name = name_of_machine(machines[i]);
    if (seen.insert(name).second) continue;
    c.error(place("machines", i), "two machines are called " + in_quotes(name));
  }
}

void check_machines_used(const ClusterParams& cluster, Checker& c) {
  std::set<std::string_view> used;
  for (const PoolParams& pool : cluster.pools) used.insert(pool.machine);
  for (size_t i = 0; i < cluster.machines.size(); ++i) {
    const std::string name = name_of_machine(cluster.machines[i]);
    if (used.contains(name)) continue;
    c.warning(place("machines", i), "no pool uses this machine, " + in_quotes(name));
  }
}

bool is_too_long(size_t length, size_t most, const char* field, Checker& c) {
  if (length <= most) return false;
  std::string text = "has " + std::to_string(length);
  c.error(field, text += " entries; at most " + std::to_string(most) + " are allowed");
  return true;
}

}  // namespace

void ClusterParams::check(Checker& c) const {
  if (pools.empty() && openb_nodes.empty()) c.error("", "needs `pools` or `openb_nodes`");
  if (is_too_long(pools.size() + openb_nodes.size(), kPoolsMax, "pools", c) ||
      is_too_long(machines.size(), kMachinesMax, "machines", c)) {
    return;
  }
  std::vector<std::string> names;
  for (const Machine& machine : machine_catalogue()) names.emplace_back(machine.name);
  for (const MachineParams& machine : machines) names.push_back(name_of_machine(machine));
  check_machine_names(machines, c);
  check_machines_used(*this, c);
  const std::set<std::string_view> known{names.begin(), names.end()};
  std::set<std::string_view> seen;
  int64_t nodes = 0;
  for (size_t i = 0; i < pools.size(); ++i) {
    const PoolParams& pool = pools[i];
    nodes += pool.count;
    check_labels(pool, i, c);
    if (!known.contains(pool.machine)) {
      std::string text = "no machine is called " + in_quotes(pool.machine);
      c.error(place("pools", i, "machine"), text + did_you_mean(pool.machine, names));
    }
    if (!seen.insert(pool.name).second) {
      c.error(place("pools", i, "name"), "two pools are called " + in_quotes(pool.name));
    }
  }
  if (nodes > kNodesMax) {
    std::string text = "all pools together have ";
    c.error("pools", text + std::to_string(nodes) + " nodes; at most 1000000 are allowed");
  }
}

BuiltPools build_nodes(const ClusterParams& params, ClusterState& state, uint64_t seed,
                       std::span<const uint32_t> leaf_of) {
  BuiltPools built;
  for (const PoolParams& pool : params.pools) {
    const Machine machine = machine_called(params, pool.machine);
    NodeSpec node = node_like(machine, pool.pods_max, pool.name);
    node.machine = intern(built.machines, machine);
    for (const auto& [key, value] : pool.labels) node.labels.push_back({key, value});
    for (const TaintParams& t : pool.taints) node.taints.push_back({t.key, t.value, t.effect});
    const uint32_t first_leaf = state.leaves();
    for (int32_t i = 0; i < pool.count; ++i) {
      node.name = pool.name;
      node.name += '-';
      node.name += std::to_string(i);
      node.leaf =
          leaf_of_next(state, leaf_of, first_leaf + static_cast<uint32_t>(i / pool.nodes_per_leaf));
      state.add_node(node);
      built.pool_of.push_back(static_cast<uint16_t>(built.pools.size()));
    }
    built.pools.push_back(pool.name);
  }
  const RngStreams rng{seed};
  for (size_t i = 0; i < params.openb_nodes.size(); ++i) {
    add_openb(params.openb_nodes[i], rng.stream("cluster.openb_nodes", i), built, state, leaf_of);
  }
  state.seal();
  return built;
}

}  // namespace orrery
