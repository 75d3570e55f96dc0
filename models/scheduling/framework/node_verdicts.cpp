#include "models/scheduling/framework/node_verdicts.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "models/scheduling/framework/plugin_bits.hpp"

namespace orrery {
namespace {

// How many specs may have a cache. The size of a cache grows with the number of nodes, so a larger
// cluster has fewer caches. Example: 419 caches for 5,000 nodes.
size_t caches_for(size_t nodes) {
  constexpr size_t kNodesMax = size_t{1} << 21U, kLeast = 64;
  return std::max(kLeast, kNodesMax / std::max<size_t>(nodes, kLeast));
}

}  // namespace

NodeVerdicts::NodeVerdicts(const ClusterState& cluster, const Plugins& plugins)
    : cluster_{cluster},
      plugins_{plugins},
      caches_max_{caches_for(cluster.nodes())},
      looked_at_{NodeSet{cluster.nodes()}},
      asked_{cluster.nodes()} {
  looked_at_.keep_reasons(false);
}

void NodeVerdicts::start_over(SpecCache& cache, SpecId spec) const {
  const size_t n = cluster_.nodes();
  cache.spec = spec;
  cache.stale = NodeSet::all(n);
  cache.feasible = NodeSet{n};
  cache.scored = NodeSet{n};
  cache.stale_count = n;
  cache.feasible_count = 0;
  cache.rejected_by.assign(n, SpecCache::kFeasible);
  cache.rejections.fill(0);
  cache.capacity_version = cache.indexed_version = UINT64_MAX;
  cache.alike.give_up();
  cache.refreshes = 0;
}

SpecCache& NodeVerdicts::of(const Cycle& cycle) {
  const SpecId spec = cycle.pod.spec_id;
  const size_t at = spec.index % caches_max_;
  if (at >= caches_.size()) caches_.resize(at + 1);
  if (!caches_[at]) caches_[at] = std::make_unique<SpecCache>();
  SpecCache& cache = *caches_[at];
  const uint64_t version = cluster_.version();
  if (cache.spec == spec && cache.version == version) return cache;
  if (cache.spec != spec || cache.version == UINT64_MAX || !cluster_.log_covers(cache.version)) {
    start_over(cache, spec);
  } else {
    for (const NodeId n : cluster_.touched_since(cache.version)) {
      if (cache.stale.contains(n)) continue;
      cache.stale.insert(n);
      ++cache.stale_count;
      if (cache.feasible.contains(n)) --cache.feasible_count;
      cache.feasible.erase(n);
      cache.scored.erase(n);
      cache.alike.erase(n);
      uint8_t& by = cache.rejected_by[n.index];
      if (by != SpecCache::kFeasible) --cache.rejections[by];
      by = SpecCache::kFeasible;
    }
  }
  cache.version = version;
  return cache;
}

bool NodeVerdicts::look_at_all(const Cycle& cycle, SpecCache& cache) {
  if (cache.stale_count == 0) return false;
  asked_ = cache.stale;
  cache.stale.clear();
  cache.stale_count = 0;
  look_at_asked(cycle, cache);
  return true;
}

bool NodeVerdicts::look_at(const Cycle& cycle, SpecCache& cache, const NodeSet& nodes) {
  if (cache.stale_count == 0) return false;
  asked_ = nodes;
  asked_ &= cache.stale;
  if (asked_.empty()) return false;
  cache.stale -= asked_;
  cache.stale_count -= asked_.count();
  look_at_asked(cycle, cache);
  return true;
}

// Stores whether each node in asked_ is feasible and, if not, the first plugin that rejected it.
void NodeVerdicts::look_at_asked(const Cycle& cycle, SpecCache& cache) {
  looked_at_.reset(asked_);
  uint32_t blamed = 0;
  const auto blame = [&](uint8_t plugin) {
    if (looked_at_.removed() == blamed) return;
    blamed = looked_at_.removed();
    asked_ -= looked_at_.nodes();
    asked_.for_each([&](NodeId n) {
      cache.rejected_by[n.index] = plugin;
      ++cache.rejections[plugin];
    });
    asked_ = looked_at_.nodes();
  };
  looked_at_.keep(cluster_.up(), {Code::UnschedulableAndUnresolvable, {}});
  blame(kNodeReady);
  for (const Bound<Filter>& filter : plugins_.local_filters()) {
    looked_at_.set_plugin(filter.index);
    filter.call(&Filter::filter, cycle, looked_at_);
    blame(filter.index);
  }
  cache.feasible |= looked_at_.nodes();
  cache.feasible_count += looked_at_.nodes().count();
}

void NodeVerdicts::count_capacity(const PodSpec& spec, SpecCache& cache) const {
  const auto look = [&](NodeId n) {
    const auto pods = cache.feasible.contains(n)
                          ? static_cast<uint8_t>(std::popcount(cluster_.idle_gpus(n)) / spec.gpus)
                          : uint8_t{0};
    const uint8_t before = std::exchange(cache.capacity_on[n.index], pods);
    cache.capacity_in[cluster_.leaf(n)] += uint32_t{pods} - before;
    cache.capacity += int64_t{pods} - before;
  };
  if (cache.capacity_version == UINT64_MAX || !cluster_.log_covers(cache.capacity_version)) {
    cache.capacity_on.assign(cluster_.nodes(), 0);
    cache.capacity_in.assign(cluster_.leaves(), 0);
    cache.capacity = 0;
    cache.feasible.for_each(look);
  } else {
    for (const NodeId n : cluster_.touched_since(cache.capacity_version)) look(n);
  }
  cache.capacity_version = cache.version;
}

int64_t NodeVerdicts::gpu_capacity(const Cycle& cycle, SpecCache& cache, const GangDomain* domain) {
  look_at_all(cycle, cache);
  if (cache.capacity_version != cache.version) count_capacity(*cycle.pod.spec, cache);
  if (domain == nullptr) return cache.capacity;
  if (const auto* const leaf = std::get_if<InLeaf>(domain)) return cache.capacity_in[leaf->leaf];
  if (const auto* const node = std::get_if<NodeId>(domain)) return cache.capacity_on[node->index];
  int64_t pods = 0;
  cache.feasible.for_each_of_both(std::get<NodeSet>(*domain),
                                  [&](NodeId n) { pods += cache.capacity_on[n.index]; });
  return pods;
}

}  // namespace orrery
