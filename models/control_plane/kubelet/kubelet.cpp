#include "models/control_plane/kubelet/kubelet.hpp"

#include "sim/core/check.hpp"

namespace orrery {

HeartbeatLoad heartbeat_load(int64_t nodes, const HeartbeatParams& params) {
  const double leases = static_cast<double>(nodes) / params.lease_period.seconds();
  const double statuses = static_cast<double>(nodes) / params.status_period.seconds();
  return {.leases_per_s = leases,
          .statuses_per_s = statuses,
          .bytes_per_s = leases * static_cast<double>(params.lease_bytes.count) +
                         statuses * static_cast<double>(params.status_bytes.count)};
}

Time last_heartbeat(NodeId node, Time now, const HeartbeatParams& params) {
  // Multiples of the golden ratio spread any number of nodes evenly over the period.
  const uint32_t spread = node.index * 2'654'435'769U;
  const int64_t period = params.lease_period.ns;
  const auto phase =
      static_cast<int64_t>((uint128_t{spread} * static_cast<uint128_t>(period)) >> 32);
  if (now.ns < phase) return Time{};
  return Time{phase + (now.ns - phase) / period * period};
}

double crash_loop_writes_per_s(int64_t pods, Duration period, const KubeletParams& params) {
  ORRERY_CHECK(period > Duration{}, "the time between restarts is above 0");
  return static_cast<double>(pods * params.status_writes) / period.seconds();
}

}  // namespace orrery
