// models/hardware/cluster_state.hpp -- capacity, use and state of all nodes, as arrays.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/hardware/node_labels.hpp"
#include "models/hardware/node_set.hpp"
#include "models/hardware/resources.hpp"
#include "sim/core/id.hpp"

namespace orrery {

struct NodeSpec {
  std::string name;
  Resources allocatable;  // Gpu must be a multiple of 1000; at most kGpusPerNodeMax devices
  std::vector<NodeLabel> labels;
  std::vector<Taint> taints;
  uint16_t machine = 0;  // index into the run's machine list
  uint32_t leaf = 0;     // group of nodes that share leaf switches
};

// State of all nodes as arrays, with node sets that are kept up to date. Transaction and PodLives
// allocate and free the resources of pods. A log of changes lets caches refresh only changed nodes.
class ClusterState {
 public:
  NodeId add_node(const NodeSpec& spec);  // only allowed before the run
  void seal();                            // builds the node sets; add_node() is an error afterwards

  size_t nodes() const { return names_.size(); }
  uint32_t leaves() const { return leaves_; }
  std::string_view name(NodeId n) const { return names_[n.index]; }
  uint16_t machine(NodeId n) const { return machines_[n.index]; }
  uint32_t leaf(NodeId n) const { return leaf_[n.index]; }
  std::span<const NodeId> in_leaf(uint32_t leaf) const {  // nodes up or down
    return std::span{by_leaf_}.subspan(leaf_begin_[leaf],
                                       leaf_begin_[leaf + 1] - leaf_begin_[leaf]);
  }
  int64_t allocatable(NodeId n, Resource r) const { return allocatable_[idx(r)][n.index]; }
  int64_t requested(NodeId n, Resource r) const { return requested_[idx(r)][n.index]; }
  int64_t free(NodeId n, Resource r) const { return allocatable(n, r) - requested(n, r); }
  // Like requested(), but containers without requests count as 100m and 200 MiB, for scoring.
  int64_t nonzero_requested(NodeId n, Resource r) const {
    return r == Resource::Cpu      ? nonzero_cpu_[n.index]
           : r == Resource::Memory ? nonzero_memory_[n.index]
                                   : requested(n, r);
  }
  uint32_t gpus(NodeId n) const {  // including GPUs taken out by set_gpu_out()
    return allocatable_gpus(n) + static_cast<uint32_t>(std::popcount(gpus_out_[n.index]));
  }
  GpuMask gpus_out(NodeId n) const { return gpus_out_[n.index]; }
  GpuMask idle_gpus(NodeId n) const { return idle_gpus_[n.index]; }  // devices that are wholly free
  int32_t gpu_left_milli(NodeId n, uint32_t gpu) const { return gpu_left_[n.index][gpu]; }
  int32_t gpu_left_milli_max(NodeId n) const;
  // Arrays over all nodes. Their addresses are stable after seal().
  std::span<const int64_t> allocatable(Resource r) const { return allocatable_[idx(r)]; }
  std::span<const int64_t> requested(Resource r) const { return requested_[idx(r)]; }
  std::span<const GpuMask> idle_gpus() const { return idle_gpus_; }
  std::span<const uint16_t> machine() const { return machines_; }
  std::span<const uint32_t> leaf() const { return leaf_; }

  // ---- node sets, kept up to date
  const NodeSet& up() const { return up_; }                  // nodes without any NodeReason
  const NodeSet& cordoned() const { return cordoned_; }      // spec.unschedulable
  const NodeSet& with_idle_gpus(uint32_t at_least) const;    // whether up or down
  const NodeSet& fully_idle() const { return fully_idle_; }  // nodes without pods
  NodeSet matching(const SelectorTerm& term) const;          // nodes with matching labels
  std::span<const Taint> taints() const { return taints_; }  // distinct, in order of first use
  const NodeSet& with_taint(size_t taint) const { return with_taint_[taint]; }

  // ---- totals, kept up to date
  int64_t gpus_total() const { return gpus_total_; }  // all devices, whether up, down or taken out
  int64_t gpus_up() const { return gpus_up_; }
  int64_t gpu_milli_allocated() const { return gpu_milli_allocated_; }
  const Resources& free_on_up_nodes() const { return free_up_; }

  // ---- changes
  struct Request {  // request of a pod; nonzero_*: see nonzero_requested()
    Resources resources;
    int64_t nonzero_cpu = 0, nonzero_memory = 0;
  };
  void take(NodeId n, const Request& request, DeviceGrant grant);
  void give_back(NodeId n, const Request& request, DeviceGrant grant);
  void set_up(NodeId n, bool is_up);  // only NodePresence calls this
  // Removes an idle GPU from the node's capacity, or adds it again. Must not be called in a
  // what-if. Does not update the sums of capacities that RoomTable, CountedPool and GpuUsage keep.
  void set_gpu_out(NodeId n, uint32_t gpu, bool is_out);
  void set_cordoned(NodeId n, bool is_cordoned);
  void set_taint(NodeId n, const Taint& taint, bool present);

  // Starts or ends a what-if. Its changes are not logged, and must be undone before it ends.
  void hypothesise(bool is_on) { hypotheses_ += is_on ? 1 : -1; }  // what-ifs nest
  // ---- change log. Call touched_since(version) only if log_covers(version).
  uint64_t version() const { return log_base_ + log_.size(); }
  bool log_covers(uint64_t version) const { return version >= log_base_; }
  std::span<const NodeId> touched_since(uint64_t version) const {
    return std::span{log_}.subspan(version - log_base_);
  }
  size_t memory_bytes() const;  // memory of the arrays and sets

 private:
  uint32_t allocatable_gpus(NodeId n) const {
    return static_cast<uint32_t>(allocatable(n, Resource::Gpu) / kMilli);
  }
  static size_t idx(Resource r) { return static_cast<size_t>(r); }
  void sort_by_leaf();
  void touched(NodeId n);
  void reindex_gpus(NodeId n, GpuMask before);
  void count_free(NodeId n, const Resources& delta, int sign);
  size_t intern_taint(const Taint& taint);

  std::vector<std::string> names_;
  std::array<std::vector<int64_t>, kResources> allocatable_, requested_;
  std::vector<int64_t> nonzero_cpu_, nonzero_memory_;
  std::vector<GpuMask> idle_gpus_, gpus_out_;
  std::vector<std::array<int16_t, kGpusPerNodeMax>> gpu_left_;
  std::vector<uint16_t> machines_;
  std::vector<uint32_t> leaf_, leaf_begin_;  // leaf_begin_[i]: where leaf i begins in by_leaf_
  uint32_t leaves_ = 0;
  std::vector<NodeId> by_leaf_;  // all nodes, sorted by leaf
  NodeSet up_, cordoned_, fully_idle_;
  std::vector<NodeSet> with_idle_gpus_;
  std::vector<Taint> taints_;
  std::vector<NodeSet> with_taint_;
  struct LabelValue {
    std::string value;
    NodeSet nodes;
  };
  struct LabelIndex {
    std::string key;
    std::vector<LabelValue> values;  // sorted by value once sealed
  };
  const LabelIndex* find_label(std::string_view key) const;
  std::vector<LabelIndex> labels_;  // sorted by key once sealed; hostnames are not indexed
  std::vector<std::vector<NodeLabel>> unsealed_labels_;
  std::vector<std::vector<Taint>> unsealed_taints_;
  bool is_sealed_ = false;
  int32_t hypotheses_ = 0;
  int64_t gpus_total_ = 0, gpus_up_ = 0, gpu_milli_allocated_ = 0;
  Resources free_up_;
  std::vector<NodeId> log_;
  uint64_t log_base_ = 0, log_max_ = 0;
};

}  // namespace orrery
