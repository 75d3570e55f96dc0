#include "models/scheduling/job_queue/counted_pool.hpp"

#include <algorithm>

namespace orrery {

CountedPool::CountedPool(const ClusterState& cluster, std::span<const Machine> machines,
                         std::span<const Counted> counts)
    : cluster_{cluster}, names_{counts.begin(), counts.end()} {
  for (const Counted counted : counts) counts_.push_back(static_cast<Resource>(counted));
  for (const Machine& machine : machines) {
    const auto known = std::ranges::find(parts_, machine.gpu.name, &PoolPart::model);
    part_of_.push_back(static_cast<size_t>(known - parts_.begin()));
    if (known == parts_.end()) parts_.push_back({.model = machine.gpu.name});
  }
  for (uint32_t n = 0; n < cluster_.nodes(); ++n) add_node({n}, 1);
  total_ = capacity_;
  NodeSet down = NodeSet::all(cluster_.nodes());
  down -= cluster_.up();
  down.for_each([&](NodeId n) { add_node(n, -1); });
}

void CountedPool::add_node(NodeId node, int sign) {
  for (size_t i = 0; i < kResources; ++i) {
    capacity_.amount[i] += sign * cluster_.allocatable(node, static_cast<Resource>(i));
  }
  parts_[part_of_[cluster_.machine(node)]].count += sign * cluster_.allocatable(node, counted());
}

int64_t CountedPool::unit() const {
  return counted() == Resource::Cpu || counted() == Resource::Gpu ? kMilli : 1;
}

bool CountedPool::fits(const Resources& request) const {
  return std::ranges::all_of(counts_, [&](Resource resource) {
    return request[resource] <= capacity_[resource] - used_[resource];
  });
}

bool CountedPool::is_feasible(const Resources& request) const {
  return std::ranges::all_of(
      counts_, [&](Resource resource) { return request[resource] <= total_[resource]; });
}

}  // namespace orrery
