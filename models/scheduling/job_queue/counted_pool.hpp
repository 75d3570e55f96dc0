// models/scheduling/job_queue/counted_pool.hpp -- the resources of all nodes as one pool.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/hardware/cluster_state.hpp"
#include "models/hardware/machine.hpp"
#include "models/scheduling/contract/counted.hpp"
#include "models/scheduling/contract/job_policy_api.hpp"

namespace orrery {

// The capacity is the sum of the resources of all nodes that are up. Example: 4 nodes of 8 GPUs are
// a pool of 32. A job of two pods with 16 GPUs each fits the empty pool, although no node has 16
// GPUs. While nodes are down, the capacity may be less than the used amount. Reservations of Plan
// policies consider only the first counted resource, counted().
class CountedPool {
 public:
  CountedPool(const ClusterState& cluster, std::span<const Machine> machines,
              std::span<const Counted> counts);

  void node_changed(NodeId node, bool is_up) { add_node(node, is_up ? 1 : -1); }
  void take(const Resources& amount) { used_ += amount; }
  void give_back(const Resources& amount) { used_ -= amount; }

  const ClusterState& cluster() const { return cluster_; }
  std::span<const Counted> counts() const { return names_; }
  Resource counted() const { return counts_.front(); }
  // 1000 if the counted resource is GPUs or CPUs, whose amounts are in thousandths; else 1.
  int64_t unit() const;
  // Amount of the counted resource on all nodes, up or down.
  int64_t total() const { return total_[counted()]; }
  int64_t capacity() const { return capacity_[counted()]; }
  int64_t free() const { return capacity() - used_[counted()]; }
  const Resources& capacities() const { return capacity_; }
  const Resources& used() const { return used_; }
  std::span<const PoolPart> parts() const { return parts_; }
  bool fits(const Resources& request) const;  // whether the request is free now
  // Whether the request fits if all nodes are up and empty.
  bool is_feasible(const Resources& request) const;

 private:
  void add_node(NodeId node, int sign);

  const ClusterState& cluster_;
  std::vector<Counted> names_;
  std::vector<Resource> counts_;  // the counted resources
  Resources total_, capacity_, used_;
  std::vector<PoolPart> parts_;
  std::vector<size_t> part_of_;  // index in parts_, by machine
};

}  // namespace orrery
