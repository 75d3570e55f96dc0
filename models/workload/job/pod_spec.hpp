// models/workload/job/pod_spec.hpp -- requests and constraints of a pod; pods with equal specs
// share one SpecId.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "models/hardware/cluster_state.hpp"
#include "models/hardware/node_labels.hpp"
#include "models/hardware/resources.hpp"
#include "sim/core/id.hpp"

namespace orrery {

struct ContainerImage {
  std::string name;
  int64_t bytes = 0;
  bool operator==(const ContainerImage&) const = default;
};

// Topology key: a domain is one node, or the nodes of one leaf switch.
enum class PodTopology : uint8_t { Hostname, Leaf };
constexpr std::array<std::string_view, 2> enum_names(PodTopology) { return {"hostname", "leaf"}; }

struct PodAffinityTerm {  // pods with all these labels, of any team
  PodTopology topology_key = PodTopology::Hostname;
  std::vector<NodeLabel> match_labels;
  bool operator==(const PodAffinityTerm&) const = default;
};

// A topologySpreadConstraint, which counts the pods that have all labels in `match_labels`.
struct TopologySpread {
  int32_t max_skew = 1;
  PodTopology topology_key = PodTopology::Hostname;
  bool is_hard = true;  // whenUnsatisfiable: DoNotSchedule; else ScheduleAnyway
  std::vector<NodeLabel> match_labels;
  bool operator==(const TopologySpread&) const = default;
};

struct PodSpec {
  int64_t cpu_milli = 0;     // 0: no request
  int64_t memory_bytes = 0;  // 0: no request
  int32_t gpus = 0;          // devices
  int32_t gpu_milli = 1000;  // share of each device; below 1000 only with gpus == 1
  int32_t nics = 0;          // RDMA devices
  // Number of containers. For a pod without a CPU or memory request, scoring assumes
  // kDefaultCpuMilli or kDefaultMemoryBytes for each container; with 0 containers it assumes 0.
  int32_t containers = 1;
  int32_t priority = 0;
  bool may_preempt = true;  // preemptionPolicy: PreemptLowerPriority; else Never
  std::string node_name;    // spec.nodeName: only this node; empty: any
  std::vector<Toleration> tolerations;
  // At least one of these terms must match the node; empty: any node.
  std::vector<SelectorTerm> required_terms;
  std::vector<PreferredTerm> preferred_terms;
  std::vector<NodeLabel> labels;                         // labels of the pod itself
  std::vector<PodAffinityTerm> affinity, anti_affinity;  // required, all of them
  std::vector<TopologySpread> topology_spread;
  std::vector<ContainerImage> images;  // images of its containers; empty: nothing to pull
  bool operator==(const PodSpec&) const = default;

  Resources requests() const;  // includes 1 of Resource::Pods
  bool is_best_effort() const {
    return cpu_milli == 0 && memory_bytes == 0 && gpus == 0 && nics == 0;
  }
  // The pod's requests, and the CPU and memory that scoring assumes: see `containers`.
  ClusterState::Request cluster_request() const;
};

// What Kubernetes' scoring assumes for a container without a request (util/non_zero.go, v1.36).
constexpr int64_t kDefaultCpuMilli = 100;
constexpr int64_t kDefaultMemoryBytes = int64_t{200} << 20;

class SpecTable {
 public:
  SpecId intern(const PodSpec& spec);
  const PodSpec& operator[](SpecId id) const { return entries_[id.index].spec; }
  const ClusterState::Request& request(SpecId id) const { return entries_[id.index].request; }
  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    PodSpec spec;
    ClusterState::Request request;
  };
  std::vector<Entry> entries_;
  std::unordered_multimap<uint64_t, SpecId> by_hash_;  // for lookup only, never iterated
};

}  // namespace orrery
