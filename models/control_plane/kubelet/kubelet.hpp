// models/control_plane/kubelet/kubelet.hpp -- API load and delays of kubelets.
#pragma once

#include <cstdint>

#include "models/control_plane/base/backoff.hpp"
#include "models/control_plane/kubelet/kubelet_params.hpp"
#include "sim/core/id.hpp"
#include "sim/core/time.hpp"

namespace orrery {

struct HeartbeatLoad {
  double leases_per_s = 0;
  double statuses_per_s = 0;
  double bytes_per_s = 0;  // written
};
HeartbeatLoad heartbeat_load(int64_t nodes, const HeartbeatParams& params);

// When a node last renewed its Lease, at or before `now`. Each node renews once every
// `lease_period`, with its own phase. Before its first renewal, the result is the start of the run.
Time last_heartbeat(NodeId node, Time now, const HeartbeatParams& params);

// Time from when the kubelet observes the binding of a pod until all its containers run, if all
// images are on the node.
constexpr Duration start_time(int32_t containers, const KubeletParams& p) {
  return p.sandbox + p.container * containers;
}

// Status writes per second that `pods` pods in a crash loop cause, if their containers restart
// every `period`.
double crash_loop_writes_per_s(int64_t pods, Duration period, const KubeletParams& params);

// Backoff between a kubelet's attempts to register. The other requests of a boot use the same
// backoff, except LIST and WATCH.
inline constexpr Backoff kRegistrationBackoff{.first = 100_ms, .max = 7_s};

}  // namespace orrery
