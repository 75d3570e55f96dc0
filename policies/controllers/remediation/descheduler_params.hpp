// policies/controllers/remediation/descheduler_params.hpp -- arguments of the Descheduler.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "models/scheduling/contract/policy_registry.hpp"

namespace orrery {

inline constexpr std::array kThresholdResources = {Resource::Cpu, Resource::Memory, Resource::Pods,
                                                   Resource::Gpu};

struct UsageThresholds {
  static constexpr std::string_view kDoc =
      "Requests of the pods on a node, in percent of its capacity. Resources that are not named do "
      "not decide which nodes are over- or underutilized.";
  std::optional<double> cpu = {}, memory = {}, pods = {}, gpus = {};

  template <class V>
  void fields(V& v) {
    v("cpu", cpu, "CPU cores.", Range{0.0, 100.0}, Unit{"%"}, Example{"20"});
    v("memory", memory, "Host memory.", Range{0.0, 100.0}, Unit{"%"}, Example{"20"});
    v("pods", pods, "Pods, in percent of the kubelet's limit.", Range{0.0, 100.0}, Unit{"%"},
      Example{"20"});
    v("gpus", gpus, "GPUs, including shares of a GPU.", Range{0.0, 100.0}, Unit{"%"},
      Example{"20"});
  }
  std::optional<double> of(Resource r) const {
    return r == Resource::Cpu      ? cpu
           : r == Resource::Memory ? memory
           : r == Resource::Pods   ? pods
           : r == Resource::Gpu    ? gpus
                                   : std::nullopt;
  }
};

struct LowNodeUtilizationParams {
  static constexpr std::string_view kDoc =
      "Evicts pods from overutilized nodes while underutilized nodes have room for them.";
  UsageThresholds thresholds = {}, target_thresholds = {};
  bool use_deviation_thresholds = false;
  int32_t number_of_nodes = 0;

  template <class V>
  void fields(V& v) {
    v("thresholds", thresholds,
      "A node is underutilized if its usages (requests in percent of its capacity) are all at or "
      "below these thresholds.",
      Required{});
    v("target_thresholds", target_thresholds,
      "A node is overutilized if any of its usages is above these thresholds. The same "
      "resources as in `thresholds` must be named.",
      Required{});
    v("use_deviation_thresholds", use_deviation_thresholds,
      "true: `thresholds` are distances below the mean usage of all ready nodes; "
      "`target_thresholds` are distances above this mean.");
    v("number_of_nodes", number_of_nodes,
      "Pods are evicted only if more nodes than this are underutilized.", Range{0, 1'000'000},
      Unit{"nodes"}, Source{"kubernetes-sigs/descheduler nodeutilization/types.go@81ec3a4c"});
  }
  void check(Checker& c) const {
    bool is_any = false;
    for (const Resource r : kThresholdResources) {
      const std::optional<double> low = thresholds.of(r), high = target_thresholds.of(r);
      is_any = is_any || low;
      if (low.has_value() != high.has_value()) {
        c.error("target_thresholds", "must name the same resources as thresholds");
      } else if (low && !use_deviation_thresholds && *low > *high) {
        c.error("thresholds", "must not be above target_thresholds");
      }
    }
    if (!is_any) c.error("thresholds", "must name a resource");
  }
};

struct RemoveDuplicatesParams {
  static constexpr std::string_view kDoc =
      "Evicts pods of one owner from a node that has more than ceil(pods / nodes) of them. Here "
      "`pods` is the number of the owner's pods, and `nodes` the number of nodes that these pods "
      "may use.";
  std::vector<WorkloadKind> exclude_owner_kinds = {};

  template <class V>
  void fields(V& v) {
    v("exclude_owner_kinds", exclude_owner_kinds, "Pods of these owners are never duplicates.",
      Example{"[ordered_stateful_set]"});
  }
};

struct DeschedulerParams {
  static constexpr std::string_view kDoc =
      "remove_duplicates or low_node_utilization must be given. The controller's `period` "
      "corresponds to deschedulingInterval in upstream's Helm chart, but the defaults differ: "
      "`period` is 10 s, deschedulingInterval 5 min.";
  std::optional<RemoveDuplicatesParams> remove_duplicates = {};
  std::optional<LowNodeUtilizationParams> low_node_utilization = {};
  bool node_fit = false;
  bool gangs = false;
  int32_t priority_threshold = 2'000'000'000;
  int32_t replicas_min = 0;
  Duration pod_age_min = {};
  int32_t evictions_per_node_max = 0;
  int32_t evictions_max = 0;

  template <class V>
  void fields(V& v) {
    v("remove_duplicates", remove_duplicates,
      "Evicts pods from nodes that have too many pods of one owner; absent: these pods stay.");
    v("low_node_utilization", low_node_utilization,
      "Evicts pods from overutilized nodes while underutilized nodes have room for them; absent: "
      "pods on overutilized nodes stay.");
    v("node_fit", node_fit,
      "true: a pod is evicted only if it fits on another node. Node name, labels, taints, cordons "
      "and requests are checked. Space found for pods evicted earlier in the same period counts as "
      "taken.");
    v("gangs", gangs,
      "Whether members of gangs are evicted, too. One eviction stops the whole gang, so at most "
      "one pod of a gang is evicted at a time.");
    v("priority_threshold", priority_threshold, "Pods of this priority or higher stay.",
      Range{-1'000'000'000, 2'000'000'000},
      Source{"system-cluster-critical, descheduler defaultevictor"});
    v("replicas_min", replicas_min,
      "Pods of owners with fewer pods than this stay. Upstream: minReplicas.", Range{0, 1'000'000},
      Unit{"pods"});
    v("pod_age_min", pod_age_min, "Pods younger than this stay. Upstream: minPodAge.");
    v("evictions_per_node_max", evictions_per_node_max,
      "Limit on the evictions from one node in a period; 0: no limit. Upstream: "
      "maxNoOfPodsToEvictPerNode.",
      Range{0, 1'000'000}, Unit{"pods"});
    v("evictions_max", evictions_max,
      "Limit on all evictions in a period; 0: no limit. Upstream: maxNoOfPodsToEvictTotal.",
      Range{0, 1'000'000}, Unit{"pods"});
  }
  void check(Checker& c) const {
    if (!remove_duplicates && !low_node_utilization) {
      c.error("", "needs remove_duplicates or low_node_utilization");
    }
  }
};

}  // namespace orrery
