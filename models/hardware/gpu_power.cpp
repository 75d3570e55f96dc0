#include "models/hardware/gpu_power.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/core/check.hpp"

namespace orrery {
namespace {

int32_t scaled(int32_t watts, double factor) {
  return static_cast<int32_t>(std::lround(watts * factor));
}

}  // namespace

GpuPowers::GpuPowers(const ClusterState& cluster, std::vector<GpuPower> by_machine,
                     const PowerParams& params, const RngStreams& rng)
    : cluster_{cluster}, by_machine_{std::move(by_machine)}, params_{params}, rng_{rng} {
  int64_t gpus = 0, idle = 0, spin = 0, busy = 0;
  NodeSet::all(cluster.nodes()).for_each([&](NodeId node) {
    ORRERY_CHECK(cluster_.machine(node) < by_machine_.size(),
                 "by_machine has an entry for every machine");
    GpuPower power = nominal(node);
    const int64_t n = cluster.gpus(node);
    gpus += n;
    idle += n * power.idle;
    spin += n * power.spin;
    busy += n * power.busy;
    if (params_.node_spread == 0) return;
    const double factor = rng_.stream("power.node", node.index).lognormal(0, params_.node_spread);
    power.idle = scaled(power.idle, factor);
    power.spin = scaled(power.spin, factor);
    by_node_.push_back(power);
  });
  if (gpus == 0) return;
  const auto mean = [&](int64_t watts) { return static_cast<int32_t>((watts + gpus / 2) / gpus); };
  mean_ = {.idle = mean(idle), .spin = mean(spin), .busy = mean(busy)};
}

GpuPower GpuPowers::of(NodeId node, uint64_t serial) const {
  GpuPower power = node.is_valid() ? of_node(node) : mean_;
  if (params_.training_spread > 0) {
    power.busy =
        scaled(power.busy, rng_.stream("power.job", serial).lognormal(0, params_.training_spread));
  }
  power.busy = std::max(power.busy, power.spin);
  return power;
}

}  // namespace orrery
