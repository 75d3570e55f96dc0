#include "models/workload/step_activity.hpp"

#include <algorithm>
#include <cmath>

#include "sim/core/check.hpp"

namespace orrery {
namespace {

// The NICs of one group, node by node.
struct GroupNics {
  std::vector<NicId> nics;
  int32_t rails = 1;
  int32_t ranks_per_node = 1;
};

// Of the ranks first, first + stride, ...: those that share a node bring their NICs, each once.
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

// All groups of an exchange. Those of a pipeline are the whole rows of stages.
std::vector<GroupNics> groups_of(const StepTraffic& traffic, std::span<const RankPlace> places) {
  const auto all = static_cast<int32_t>(places.size());
  const int32_t ranks =
      traffic.among == ExchangeGroup::Pipeline ? all / traffic.stride : traffic.ranks;
  std::vector<GroupNics> groups;
  for (int32_t block = 0; block + ranks * traffic.stride <= all; block += ranks * traffic.stride) {
    for (int32_t i = 0; i < traffic.stride; ++i) {
      groups.push_back(group_nics(places, block + i, traffic.stride, ranks));
    }
  }
  return groups;
}

}  // namespace

StepActivity step_activity(const StepPlan& plan, const Machine& machine, GpuMask gpus,
                           std::span<const RankPlace> places, const RouteFinder& route,
                           double nic_factor) {
  StepActivity activity;
  double alone = 0;
  std::vector<std::vector<GroupNics>> groups;  // of each traffic that leaves its nodes
  std::vector<const StepTraffic*> across;
  for (const StepTraffic& traffic : plan.traffic) {
    const double seconds = exchange_seconds(traffic, machine, gpus, nic_factor);
    groups.push_back(groups_of(traffic, places));
    const bool leaves = std::ranges::any_of(groups.back(), [](const GroupNics& one) {
      return static_cast<int32_t>(one.nics.size()) > one.rails;
    });
    if (!leaves) {
      groups.pop_back();
      activity.inside += nearest_ns(seconds);
      continue;
    }
    across.push_back(&traffic);
    activity.bytes = activity.bytes + traffic.bytes * traffic.count;
    alone += seconds;
  }
  if (across.empty()) return activity;
  std::vector<FabricExchange> exchanges;
  uint32_t flow = 0;
  for (size_t i = 0; i < across.size(); ++i) {
    const StepTraffic& traffic = *across[i];
    const double scale = static_cast<double>(traffic.bytes.count) *
                         static_cast<double>(traffic.count) /
                         static_cast<double>(activity.bytes.count);
    const Pattern pattern =
        traffic.collective == Collective::AllToAll ? Pattern::Direct : Pattern::Ring;
    for (const GroupNics& group : groups[i]) {
      exchanges.push_back({.collective = traffic.collective,
                           .pattern = pattern,
                           .nics = group.nics,
                           .rails = group.rails,
                           .ranks_per_node = group.ranks_per_node,
                           .first_flow = flow++,
                           .scale = scale});
    }
  }
  activity.fabric = fabric_activity(exchanges, route);
  activity.rate_max = {
      std::llround(static_cast<double>(activity.bytes.count) * 8 / std::max(alone, 1e-9))};
  return activity;
}

Duration exchange_time(const StepActivity& activity, Bandwidth rate) {
  if (activity.bytes == Bytes{}) return activity.inside;
  ORRERY_CHECK(rate.bits_per_s > 0, "an exchange across nodes has a rate");
  return activity.inside + activity.bytes / rate;
}

}  // namespace orrery
