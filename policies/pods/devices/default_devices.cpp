// Chooses the GPUs of a pod within its node, without regard to their wiring.
#include <array>
#include <bit>

#include "models/scheduling/contract/policy_registry.hpp"
#include "sim/core/check.hpp"

namespace orrery {
namespace {

enum class DeviceStrategy : uint8_t { BestFit, LowestIndex, Random };
constexpr std::array<std::string_view, 3> enum_names(DeviceStrategy) {
  return {"best_fit", "lowest_index", "random"};
}

class DefaultDevices final : public Policy, public PickDevices {
 public:
  struct Params {
    DeviceStrategy strategy = DeviceStrategy::BestFit;
    template <class V>
    void fields(V& v) {
      v("strategy", strategy,
        "best_fit: whole GPUs with the lowest indices, a share on the fullest GPU that has room "
        "for it; lowest_index: the lowest indices for whole GPUs and shares; random: random GPUs "
        "for both.");
    }
  };
  DefaultDevices(Handle& /*handle*/, const Params& params) : strategy_{params.strategy} {}

  GpuMask pick(const Cycle& cycle, NodeId node) const override {
    const PodSpec& spec = *cycle.pod.spec;
    if (spec.gpus == 0) return 0;
    const bool is_share = spec.gpu_milli < kMilli;
    const GpuMask from =
        is_share ? with_left(cycle.cluster, node, spec.gpu_milli) : cycle.cluster.idle_gpus(node);
    ORRERY_CHECK(std::popcount(from) >= spec.gpus, "only nodes with enough GPUs are feasible");
    if (strategy_ == DeviceStrategy::Random) return any_of(from, spec.gpus, cycle.state);
    if (strategy_ == DeviceStrategy::BestFit && is_share)
      return tightest_of(cycle.cluster, node, from);
    return lowest_of(from, spec.gpus);
  }

 private:
  static GpuMask bit(uint32_t gpu) { return static_cast<GpuMask>(1u << gpu); }

  static GpuMask with_left(const ClusterState& cluster, NodeId node, int32_t milli) {
    uint32_t mask = 0;
    for (uint32_t gpu = 0; gpu < cluster.gpus(node); ++gpu) {
      if (cluster.gpu_left_milli(node, gpu) >= milli) mask |= bit(gpu);
    }
    return static_cast<GpuMask>(mask);
  }
  static GpuMask lowest_of(GpuMask from, int32_t count) {
    uint32_t rest = from;
    for (int32_t i = 0; i < count; ++i) rest &= rest - 1;
    return static_cast<GpuMask>(from & ~rest);
  }
  static GpuMask tightest_of(const ClusterState& cluster, NodeId node, GpuMask from) {
    auto best = static_cast<uint32_t>(std::countr_zero(from));
    for (uint32_t rest = from; rest != 0; rest &= rest - 1) {
      const auto gpu = static_cast<uint32_t>(std::countr_zero(rest));
      if (cluster.gpu_left_milli(node, gpu) < cluster.gpu_left_milli(node, best)) best = gpu;
    }
    return bit(best);
  }
  static GpuMask any_of(GpuMask from, int32_t count, CycleState& state) {
    Rng& rng = state.rng("policies.default_devices");
    uint32_t rest = from, picked = 0;
    for (int32_t i = 0; i < count; ++i) {
      uint32_t skip = rest;  // skips a random number of the remaining GPUs
      for (auto k = rng.below(static_cast<uint64_t>(std::popcount(rest))); k > 0; --k) {
        skip &= skip - 1;
      }
      const uint32_t one = skip & (~skip + 1);
      picked |= one;
      rest &= ~one;
    }
    return static_cast<GpuMask>(picked);
  }

  const DeviceStrategy strategy_;
};
ORRERY_REGISTER_POLICY(DefaultDevices, "DefaultDevices",
                       "Picks the GPUs of a pod on its node. By default, these are the idle GPUs "
                       "with the lowest indices or, for a share of a GPU, the fullest GPU with "
                       "room.");

}  // namespace
}  // namespace orrery
