// models/workload/job/pod_params.hpp -- resource requests of pods in a scenario.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "models/facts/fact.hpp"
#include "models/workload/job/pod_constraint_params.hpp"
#include "models/workload/job/pod_spec.hpp"
#include "sim/config/options.hpp"

namespace orrery {

inline constexpr Range kPriorities{-1'000'000'000, 2'000'000'000};

enum class PreemptionPolicy : uint8_t { PreemptLowerPriority, Never };
constexpr std::array<std::string_view, 2> enum_names(PreemptionPolicy) {
  return {"preempt_lower_priority", "never"};
}

struct PodParams : PodConstraintParams {
  static constexpr std::string_view kDoc = "Requests of one pod.";

  int32_t gpus = 0;
  int32_t gpu_milli = 1000;
  double cpus = 0;
  Bytes memory = {};
  int32_t nics = 0;
  PreemptionPolicy preemption_policy = PreemptionPolicy::PreemptLowerPriority;

  template <class V>
  void fields(V& v) {
    v("gpus", gpus, "Number of GPUs.", Range{0, 16}, Unit{"GPU"});
    v("gpu_milli", gpu_milli, "Share of the GPU, in thousandths; less than 1000 only with gpus: 1.",
      Range{1, 1000}, Unit{"GPU/1000"});
    v("cpus", cpus, "CPU cores; 0: no request.", Range{0.0, 10'000.0}, Unit{"cores"});
    v("memory", memory, "Host memory; 0: no request.", Range{Bytes{}, kNodeMemoryMax});
    v("nics", nics, "Number of RDMA devices.", Range{0, 64}, Unit{"NIC"});
    v("preemption_policy", preemption_policy,
      "never: this pod waits, and no pod is preempted to make room for it.",
      Source{"preemptionPolicy of PriorityClass"},
      Heeded{Fact::Preemption, true, "no pod can be preempted (by a pod of higher priority)"});
    PodConstraintParams::fields(v);
  }
  template <class C>
  void check(C& c) const {
    if (gpu_milli < 1000 && gpus != 1) c.error("gpu_milli", "below 1000 needs gpus: 1");
  }
  PodSpec spec(int32_t priority) const;
};

}  // namespace orrery
