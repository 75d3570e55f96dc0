#include "models/workload/training/step_activity.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "sim/core/check.hpp"

namespace orrery {
namespace {

// The NICs of one group, node by node.
struct GroupNics {
  std::vector<NicId> nics;
  int32_t rails = 1;
  int32_t ranks_per_node = 1;

  int32_t nodes() const { return static_cast<int32_t>(nics.size()) / rails; }
};

// The NICs of the group with the ranks `first`, `first + stride`, ..., node by node, each NIC once.
// If one node has fewer NICs than others, only that many NICs of each node are used.
GroupNics group_nics(std::span<const RankPlace> places, int32_t first, int32_t stride,
                     int32_t ranks) {
  std::vector<std::vector<NicId>> of_nodes;
  NodeId node{};
  for (int32_t i = 0; i < ranks; ++i) {
    const RankPlace& place = places[static_cast<size_t>(first + i * stride)];
    if (of_nodes.empty() || place.node != node) of_nodes.emplace_back();
    node = place.node;
    std::vector<NicId>& nics = of_nodes.back();
    if (std::ranges::find(nics, place.nic) == nics.end()) nics.push_back(place.nic);
  }
  size_t rails = of_nodes.front().size();
  for (const std::vector<NicId>& nics : of_nodes) rails = std::min(rails, nics.size());
  GroupNics group{.nics = {},
                  .rails = static_cast<int32_t>(rails),
                  .ranks_per_node = std::max(ranks / static_cast<int32_t>(of_nodes.size()), 1)};
  for (const std::vector<NicId>& nics : of_nodes) {
    group.nics.insert(group.nics.end(), nics.begin(), nics.begin() + static_cast<int64_t>(rails));
  }
  return group;
}

// Calls f(first rank, number of ranks) for each group of an exchange. A pipeline group here
// consists of one rank of every stage.
template <class F>
void for_each_group(const StepTraffic& traffic, size_t places, F&& f) {
  const auto all = static_cast<int32_t>(places);
  const int32_t ranks =
      traffic.among == ExchangeGroup::Pipeline ? all / traffic.stride : traffic.ranks;
  for (int32_t block = 0; block + ranks * traffic.stride <= all; block += ranks * traffic.stride) {
    for (int32_t i = 0; i < traffic.stride; ++i) f(block + i, ranks);
  }
}

std::vector<GroupNics> groups_of(const StepTraffic& traffic, std::span<const RankPlace> places) {
  std::vector<GroupNics> groups;
  for_each_group(traffic, places.size(), [&](int32_t first, int32_t ranks) {
    groups.push_back(group_nics(places, first, traffic.stride, ranks));
  });
  return groups;
}

// Sets `serves` for the group's ranks on its last nodes, one node for each server. A group on one
// node has no servers. The ranks of a group are first, first + stride, ...
void mark_servers(const StepTraffic& traffic, std::span<const RankPlace> places, int32_t first,
                  int32_t ranks, std::vector<bool>& serves) {
  const auto place = [&](int32_t i) { return static_cast<size_t>(first + i * traffic.stride); };
  int32_t nodes = 1;
  for (int32_t i = 1; i < ranks; ++i) nodes += places[place(i)].node != places[place(i - 1)].node;
  if (nodes == 1) return;
  int32_t left = traffic.method.servers->count_on(nodes);
  for (int32_t i = ranks - 1; left > 0; --i) {
    serves[place(i)] = true;
    left -= places[place(i)].node != places[place(i - 1)].node;
  }
}

bool has_dedicated_servers(const StepTraffic& traffic) {
  return traffic.method.servers && !traffic.method.servers->is_colocated();
}

// An exchange between nodes.
struct Across {
  const StepTraffic* traffic = nullptr;
  Pattern pattern = Pattern::Ring;
  std::vector<GroupNics> groups;
};

FabricExchange fabric_exchange(const Across& across, const GroupNics& group) {
  FabricExchange exchange{.collective = across.traffic->collective,
                          .pattern = across.pattern,
                          .nics = group.nics,
                          .rails = group.rails,
                          .ranks_per_node = group.ranks_per_node};
  if (const auto& servers = across.traffic->method.servers; servers && group.nodes() > 1) {
    exchange.servers = servers->count_on(group.nodes());
    exchange.is_colocated = servers->is_colocated();
  }
  return exchange;
}

}  // namespace

std::vector<RankPlace> by_node(std::vector<RankPlace> ranks) {
  std::ranges::stable_sort(ranks, {}, [](const RankPlace& rank) { return rank.node.index; });
  return ranks;
}

std::vector<PodId> dedicated_servers(const StepPlan& plan, const std::vector<RankPlace>& ranks) {
  if (std::ranges::none_of(plan.traffic, has_dedicated_servers)) return {};
  const std::vector<RankPlace> places = by_node(ranks);
  std::vector<bool> serves(places.size());
  for (const StepTraffic& traffic : plan.traffic) {
    if (!has_dedicated_servers(traffic)) continue;
    for_each_group(traffic, places.size(), [&](int32_t first, int32_t count) {
      mark_servers(traffic, places, first, count, serves);
    });
  }
  std::map<PodId, bool> all_serve;
  for (size_t i = 0; i < places.size(); ++i) {
    bool& all = all_serve.try_emplace(places[i].pod, true).first->second;
    all = all && serves[i];
  }
  std::vector<PodId> servers;
  for (const auto& [pod, all] : all_serve) {
    if (all) servers.push_back(pod);
  }
  return servers;
}

StepActivity step_activity(const StepPlan& plan, const Machine& machine, GpuMask gpus,
                           std::span<const RankPlace> places, const RouteFinder& route,
                           double nic_factor, const ExchangeTimes& times, int32_t queue_pairs) {
  StepActivity activity;
  double alone = 0;
  std::vector<Across> across;
  for (const StepTraffic& traffic : plan.traffic) {
    const LoneExchange lone = lone_exchange(traffic, machine, gpus, nic_factor, times);
    const double seconds = lone.time.seconds() * static_cast<double>(traffic.count);
    std::vector<GroupNics> groups = groups_of(traffic, places);
    const auto leaves = [](const GroupNics& group) { return group.nodes() > 1; };
    if (std::ranges::none_of(groups, leaves)) {
      activity.inside += nearest_ns(seconds);
      continue;
    }
    across.push_back({&traffic, lone.pattern, std::move(groups)});
    activity.bytes = activity.bytes + traffic.bytes * traffic.count;
    alone += seconds;
  }
  if (across.empty()) return activity;
  std::vector<FabricExchange> exchanges;
  uint32_t flow = 0;
  for (const Across& one : across) {
    const double scale = static_cast<double>(one.traffic->bytes.count) *
                         static_cast<double>(one.traffic->count) /
                         static_cast<double>(activity.bytes.count);
    for (const GroupNics& group : one.groups) {
      exchanges.push_back(fabric_exchange(one, group));
      exchanges.back().flows_per_connection = queue_pairs;
      exchanges.back().first_flow = flow++;
      exchanges.back().scale = scale;
    }
  }
  activity.fabric = fabric_activity(exchanges, route);
  activity.rate_max = {
      std::llround(static_cast<double>(activity.bytes.count) * 8 / std::max(alone, 1e-9))};
  return activity;
}

}  // namespace orrery
