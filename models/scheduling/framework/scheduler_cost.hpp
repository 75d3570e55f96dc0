// models/scheduling/framework/scheduler_cost.hpp -- simulated time that scheduling takes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "sim/config/fields.hpp"
#include "sim/core/enum_names.hpp"
#include "sim/core/time.hpp"

namespace orrery {

enum class CostPreset : uint8_t { Current, Kubernetes115 };
constexpr std::array<std::string_view, 2> enum_names(CostPreset) {
  return {"current", "kubernetes_1_15"};
}

struct SchedulerCostParams {
  CostPreset preset = CostPreset::Current;
  std::optional<Duration> per_cycle = {}, per_node = {}, per_pod = {};
  Duration bind = {};

  template <class V>
  void fields(V& v) {
    v("preset", preset,
      "The scheduler whose speed is imitated. Costs given below take precedence. current: today's "
      "kube-scheduler, as in scheduler_perf. kubernetes_1_15: Kubernetes 1.15, which always ran "
      "the plugin InterPodAffinity. If the profile has this plugin, its `algorithm` is before_1_18 "
      "by default: each pod is compared with all nodes, and a cluster of 5,000 nodes reaches 38 "
      "pods/s. Without the plugin, a cycle that visits 500 nodes takes 6.34 ms, which gives 158 "
      "pods/s.",
      Source{"kubernetes_1_15: kubernetes pull request 79474, July 2019, on 12 cores. Three costs "
             "reproduce its anti-affinity benchmark within 15 %: 6.34 ms for a cycle, and in "
             "InterPodAffinity 3.96 us for each node and 1.44 us for each pod. In tests of 2019, "
             "clusters of 5,000 nodes reached 15 pods/s (issue 78208) to 100 pods/s (pull request "
             "74041)"});
    v("per_cycle", per_cycle,
      "Fixed scheduler time of one attempt, whatever its result. Absent: the cost of the preset.",
      Range{Duration{}, 1_min},
      Source{"200us, calibrated with per_node and per_pod; kubernetes_1_15: 340us. 340us and 500 "
             "nodes at 2us each make 1.34 ms, the time of the filters in pull request 85861"});
    v("per_node", per_node,
      "Scheduler time for each node that the filters visit. Absent: the cost of the preset.",
      Range{Duration{}, 1_s},
      Source{"2us, calibrated: 5,000 nodes, of which 500 are visited, give 745 pods/s. That is "
             "midway between the minimum rates of scheduler_perf SchedulingBasic, 680 and 810 "
             "pods/s. kubernetes_1_15: 2us, too"});
    v("per_pod", per_pod,
      "Scheduler time for each pod that gets a node. Absent: the cost of the preset.",
      Range{Duration{}, 1_min},
      Source{"140us, calibrated with per_node; kubernetes_1_15: 5ms, the rest of the 6.34 ms of a "
             "cycle (see preset)"});
    v("bind", bind,
      "Time from the end of the scheduling cycle until the pod is bound or, with a control plane, "
      "until the scheduler sends the binding.",
      Range{Duration{}, 1_h}, Source{"assumed"});
  }
};

// The costs of a profile. Costs that the profile does not give are those of its preset.
struct SchedulerCost {
  SchedulerCost() = default;
  SchedulerCost(const SchedulerCostParams& params) : bind{params.bind} {  // NOLINT: on purpose
    if (params.preset == CostPreset::Kubernetes115) {
      per_cycle = {340'000};
      per_pod = {5'000'000};
    }
    per_cycle = params.per_cycle.value_or(per_cycle);
    per_node = params.per_node.value_or(per_node);
    per_pod = params.per_pod.value_or(per_pod);
  }

  Duration per_cycle = {200'000};
  Duration per_node = {2'000};
  Duration per_pod = {140'000};
  Duration bind = {};
};

}  // namespace orrery
