// models/scenario/cluster_params.hpp -- the section `cluster` of a scenario, and the nodes that it
// describes.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/facts/fact.hpp"
#include "models/hardware/cluster_state.hpp"
#include "models/hardware/gpu_power.hpp"
#include "models/hardware/machine.hpp"
#include "models/hardware/machine_params.hpp"
#include "sim/config/fields.hpp"

namespace orrery {

struct TaintParams {
  static constexpr std::string_view kDoc = "A taint on every node of a pool.";
  std::string key = {}, value = {};
  TaintEffect effect = TaintEffect::NoSchedule;

  template <class V>
  void fields(V& v) {
    v("key", key, "Key of the taint.", Required{});
    v("value", value, "Value of the taint.");
    v("effect", effect, "Effect of the taint on pods that do not tolerate it.");
  }
  template <class C>
  void check(C& c) const {
    if (key.empty()) c.error("key", "must not be empty");
  }
};

struct PoolParams {
  static constexpr std::string_view kDoc = "A group of identical nodes.";
  std::string name = {};
  std::string machine = {};
  int32_t count = 1;
  int32_t nodes_per_leaf = 32;
  int32_t pods_max = 110;
  std::map<std::string, std::string> labels = {};
  std::vector<TaintParams> taints = {};

  template <class V>
  void fields(V& v) {
    v("name", name,
      "Name of the pool. Nodes are named NAME-0, NAME-1, ... and have the label `pool`.",
      Required{}, Example{"gpu"});
    v("machine", machine, "A machine of the catalogue or of `machines`; see `orrery describe`.",
      Required{}, Example{"dgx-a100"});
    v("count", count, "How many nodes.", Range{1, 1'000'000}, Unit{"nodes"}, Required{});
    v("nodes_per_leaf", nodes_per_leaf,
      "How many nodes share a leaf switch. Different pools share no leaf switch.",
      Range{1, 1'000'000}, Unit{"nodes"}, Source{"scalable units of 32 nodes in a DGX SuperPOD"});
    v("pods_max", pods_max, "Maximum number of pods on a node.", Range{1, 100'000}, Unit{"pods"},
      Source{"kubelet maxPods"});
    v("labels", labels,
      "Labels of the pool's nodes, in addition to pool, kubernetes.io/hostname, "
      "node.kubernetes.io/instance-type and nvidia.com/gpu.product.");
    v("taints", taints, "Taints of the pool's nodes.", Heeded{Fact::Pods});
  }
  template <class C>
  void check(C& c) const {
    if (name.empty()) c.error("name", "must not be empty");
  }
};

struct OpenbNodesParams {
  static constexpr std::string_view kDoc =
      "Nodes of a list: openb's, PAI's pai_machine_spec.csv, the spot set's node_info_df.csv, or "
      "your own CSV. Your own CSV has the columns name, gpus, gpu_model (empty without GPUs), cpus "
      "(cores) and memory (GiB). If memory is empty, the node has as much memory as the catalogue "
      "machine with the same GPUs.";
  std::string file = {};
  std::string pool = "openb";
  std::map<std::string, std::string> stand_ins = {};
  int32_t copies = 1;
  int32_t nodes_per_leaf = 32;
  int32_t pods_max = 110;
  bool shuffle = false;

  template <class V>
  void fields(V& v) {
    v("file", file, "The node list: plain, gzip or xz.", Required{},
      Example{"../shared/traces/alibaba-gpu-v2023-openb/openb_node_list_gpu_node.csv"});
    v("pool", pool, "Label `pool` of these nodes.");
    v("stand_ins", stand_ins,
      "Maps a GPU model of the list to a GPU model of the catalogue. Nodes with the first model "
      "get a machine with the second. A GPU model needs an entry if the list has a node with N of "
      "these GPUs, and the catalogue has no machine with N of them. Node labels keep the GPU "
      "model of the list. If the list gives no memory, as in the spot set, a node has the memory "
      "of its machine.",
      Example{"{H800: H100M80}"});
    v("copies", copies,
      "Repeats the whole list, for a larger cluster of the same mix; nodes of later copies are "
      "named NAME-copy2 and so on.",
      Range{1, 100});
    v("nodes_per_leaf", nodes_per_leaf,
      "How many nodes share a leaf switch, in the order of the list.", Range{1, 1'000'000},
      Unit{"nodes"}, Source{"an estimate, because the list has no topology"});
    v("pods_max", pods_max, "Maximum number of pods on a node.", Range{1, 100'000}, Unit{"pods"},
      Source{"kubelet maxPods"});
    v("shuffle", shuffle,
      "true: nodes are numbered in a random order that the run's seed determines. With `tie_break: "
      "lowest_id`, the lowest number wins among nodes with equal scores. Each node keeps the leaf "
      "switch that follows from its place in the list.");
  }
  template <class C>
  void check(C& c) const {
    if (pool.empty()) c.error("pool", "must not be empty");
  }
};

struct ClusterParams {
  static constexpr std::string_view kDoc = "Nodes and their hardware.";
  std::vector<MachineParams> machines = {};
  std::vector<PoolParams> pools = {};
  std::vector<OpenbNodesParams> openb_nodes = {};
  PowerParams power = {};

  template <class V>
  void fields(V& v) {
    v("machines", machines,
      "Machines of your own. Each is a machine of the catalogue with changes.");
    v("pools", pools, "Pools of equal nodes.");
    v("openb_nodes", openb_nodes,
      "Nodes read from lists: those of the Alibaba sets openb, PAI and spot, or your own.");
    v("power", power, "Variation of the power draw of GPUs.");
  }
  void check(Checker& c) const;
};

struct BuiltPools {
  std::vector<Machine> machines;  // indexed by ClusterState::machine()
  std::vector<std::string> pools;
  std::vector<uint16_t> pool_of;  // index in `pools`, by node
  std::string error;              // why a node list cannot be used; empty: no error
};

// Adds all nodes and seals `state`. `seed` orders the nodes of shuffled lists. leaf_of[i], from a
// topology file, is the leaf of node i. Nodes without an entry get leaves by nodes_per_leaf.
BuiltPools build_nodes(const ClusterParams& params, ClusterState& state, uint64_t seed,
                       std::span<const uint32_t> leaf_of = {});

}  // namespace orrery
