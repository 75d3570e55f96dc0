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
      "The scheduler whose speed is imitated; given costs take precedence. current: today's "
      "scheduler_perf. kubernetes_1_15: a cycle that visits 500 nodes takes 6.34 ms, and "
      "InterPodAffinity, if it is listed, has algorithm: before_1_18 unless its args name one. "
      "Every profile had that plug-in then, and its cost for each node of the cluster is most of "
      "the time: 5,000 nodes give 38 pods/s with it, and 158 without.",
      Source{"kubernetes pull request 79474, July 2019, between 1.15 and 1.16, on 12 cores: its "
             "benchmark of anti-affinity takes 6.34 ms + 3.96 us a node + 1.44 us a pod, a fit "
             "within 15 %. Clusters of 5,000 nodes had 15 pods/s (issue 78208, May 2019) to 100 "
             "pods/s, the most their test asked for (pull request 74041, February 2019)"});
    v("per_cycle", per_cycle,
      "Scheduler time of one attempt with any result; absent: the preset's.",
      Range{Duration{}, 1_min},
      Source{"200us, calibrated with per_node and per_pod; kubernetes_1_15: 340us; with 2us for "
             "each of 500 nodes, this is the filters' 1.34 of 6.37 ms in pull request 85861"});
    v("per_node", per_node,
      "Scheduler time for each node visited by the filters; absent: the preset's.",
      Range{Duration{}, 1_s},
      Source{"2us, calibrated: 5,000 nodes (500 visited) give 745 pods/s, the middle of "
             "scheduler_perf SchedulingBasic's floors of 680 and 810; kubernetes_1_15: likewise "
             "2us, as the benchmark's times show no more"});
    v("per_pod", per_pod, "Scheduler time for each pod that gets a node; absent: the preset's.",
      Range{Duration{}, 1_min},
      Source{"140us, calibrated with per_node; kubernetes_1_15: 5ms, the rest of the 6.34 ms"});
    v("bind", bind, "From the end of the scheduling cycle until the pod is bound.",
      Range{Duration{}, 1_h}, Source{"0: without a control plane nothing is charged"});
  }
};

// The costs of a profile. Costs that it does not give are those of its preset.
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
