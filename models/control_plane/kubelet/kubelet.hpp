// models/control_plane/kubelet/kubelet.hpp -- the load that nodes are to the servers, and the time
// they take.
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

// When a node last renewed its lease, at or before `now`. Nodes do so at even times of their own.
// A node that runs since the start of the run sent its last heartbeat then.
Time last_heartbeat(NodeId node, Time now, const HeartbeatParams& params);

// From the news of a pod with all images present until all its containers run.
constexpr Duration start_time(int32_t containers, const KubeletParams& p) {
  return p.sandbox + p.container * containers;
}

// Status writes a second of pods whose containers end all the time, each started again in `period`.
double crash_loop_writes_per_s(int64_t pods, Duration period, const KubeletParams& params);

// Between the tries of a kubelet to register.
inline constexpr Backoff kRegistrationBackoff{.first = 100_ms, .max = 7_s};

}  // namespace orrery
