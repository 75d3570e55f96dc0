// models/control_plane/kubelet/kubelet_params.hpp -- the kubelet's heartbeats and pod starts.
#pragma once

#include <string_view>

#include "models/facts/fact.hpp"
#include "sim/config/fields.hpp"
#include "sim/core/time.hpp"

namespace orrery {

struct HeartbeatParams {
  static constexpr std::string_view kDoc =
      "Periodic writes of every node: a rate, not single events.";
  Duration lease_period = 10_s;
  Bytes lease_bytes = {300};
  Duration status_period = 5_min;
  Bytes status_bytes = {15'000};

  template <class V>
  void fields(V& v) {
    v("lease_period", lease_period, "Time between renewals of a node's Lease.", Range{1_s, 1_h},
      Source{"kubelet: a quarter of nodeLeaseDurationSeconds 40"});
    v("lease_bytes", lease_bytes, "Size of a Lease.", Range{1_B, 1_MiB},
      Source{"published: KEP-589, about 300 B"});
    v("status_period", status_period,
      "Time between writes of a node's status while the status does not change.", Range{1_s, 24_h},
      Source{"kubelet: nodeStatusReportFrequency, since 1.17; 1 min in 1.14, 10 s before"},
      Heeded{Fact::FullPlane});
    v("status_bytes", status_bytes, "Size of a Node object.", Range{1_B, 1_MiB},
      Source{"published: KEP-589, 15 to 20 KB"});
  }
};

struct CrashLoopParams {
  static constexpr std::string_view kDoc = "The restart backoff of ended containers.";
  Duration initial = 10_s;
  Duration most = 300_s;
  Duration reset_after = 10_min;
  bool is_first_restart_free = true;

  template <class V>
  void fields(V& v) {
    v("initial", initial, "The first backoff. It doubles with each restart.", Range{1_ms, 1_h},
      Source{"kubelet: 10 s"});
    v("most", most, "The longest backoff.", Range{1_ms, 24_h}, Source{"kubelet: 5 min"});
    v("reset_after", reset_after, "A container that ran this long resets its backoff.",
      Range{1_s, 168_h}, Source{"kubelet: 10 min"});
    v("is_first_restart_free", is_first_restart_free, "Whether the first restart is immediate.",
      Source{"kubelet: no backoff before the first restart (kubernetes issue 133472); KEP-4603 "
             "assumes the same"});
  }
  void check(Checker& c) const {
    if (most < initial) c.error("most", "must not be less than initial");
  }
};

struct ImagePullParams {
  static constexpr std::string_view kDoc =
      "Images come from a registry that all nodes share, and are unpacked while they arrive.";
  Bandwidth registry = 100_Gbps;
  Bandwidth node = {75'200'000};
  Duration latency = {};
  int32_t parallel = 1;

  template <class V>
  void fields(V& v) {
    v("registry", registry, "Bandwidth of the registry, which all nodes share.",
      Range{Bandwidth{1}, {1'000'000'000'000'000}},
      Source{"estimate: a mirror in the cluster on one 100 Gb/s port"}, Heeded{Fact::FullPlane});
    v("node", node,
      "Rate of one node: its network bandwidth or the rate at which it unpacks, whichever is less.",
      Range{Bandwidth{1}, {1'000'000'000'000'000}},
      Source{"published: OpenAI at 2,500 nodes, 17 GB in about 30 min"});
    v("latency", latency, "Time until the first byte of an image arrives.", Range{Duration{}, 1_h},
      Source{"the true latency is not known"});
    v("parallel", parallel, "Maximum number of images that a node pulls in parallel; 0: no limit.",
      Range{0, 1'000}, Unit{"images"}, Source{"kubelet: serializeImagePulls"},
      Heeded{Fact::FullPlane});
  }
};

struct KubeletParams {
  static constexpr std::string_view kDoc = "The agent on each node.";
  Duration sandbox = {500'000'000};
  Duration container = {300'000'000};
  int32_t status_writes = 5;
  HeartbeatParams heartbeats = {};
  CrashLoopParams crash_loop = {};

  template <class V>
  void fields(V& v) {
    v("sandbox", sandbox,
      "Time from when the kubelet sees a pod's binding until the pod's network is set up.",
      Range{Duration{}, 1_h},
      Source{"estimate: a sandbox container and one call of a network plugin"});
    v("container", container,
      "Time to create and start one container. A pod's containers start one after another.",
      Range{Duration{}, 1_h}, Source{"estimate: two calls of the container runtime"});
    v("status_writes", status_writes, "Writes of a pod's status for each start or restart.",
      Range{0, 1'000}, Unit{"writes"}, Source{"published: KEP-4603, 5"}, Heeded{Fact::FullPlane});
    v("heartbeats", heartbeats, "Periodic writes of the kubelet.", Heeded{Fact::SilentNodes});
    v("crash_loop", crash_loop,
      "Backoff before the kubelet restarts a container of control_plane.crash_loops.",
      Heeded{Fact::FullPlane}, Heeded{Fact::CrashLoops});
  }
};

}  // namespace orrery
