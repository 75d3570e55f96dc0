// models/control_plane/load/crash_loops_params.hpp -- pods whose containers end again and again.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "sim/config/fields.hpp"
#include "sim/core/time.hpp"

namespace orrery {

struct CrashLoopingPodsParams {
  static constexpr std::string_view kDoc =
      "Pods that belong to no job, and whose containers end again and again. Before a restart the "
      "kubelet waits as kubelet.crash_loop says. A restart writes the pod's status.";
  int32_t nodes = 1, pods_per_node = 1;
  Duration runs_for = 1_s;
  Duration from = {};
  std::optional<Duration> until = {};

  template <class V>
  void fields(V& v) {
    v("nodes", nodes,
      "Number of nodes with such pods. These are the first nodes of the cluster. A node that is "
      "down has no such pods.",
      Range{1, 1'000'000}, Unit{"nodes"});
    v("pods_per_node", pods_per_node, "Number of such pods on each of these nodes.",
      Range{1, 100'000}, Unit{"pods"});
    v("runs_for", runs_for, "How long a container runs before it ends.", Range{1_ms, 168_h},
      Source{"estimate: a container that fails as it starts"});
    v("from", from, "Time from the start of the run until these pods start.", IsInstant{});
    v("until", until, "When these pods are deleted; absent: never.");
  }
  void check(Checker& c) const {
    if (until && *until <= from) c.error("until", "must be after `from`");
  }
};

}  // namespace orrery
