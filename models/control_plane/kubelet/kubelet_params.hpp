// models/control_plane/kubelet/kubelet_params.hpp -- heartbeats of a node and its pod starts.
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
    v("lease_period", lease_period, "Between renewals of a node's lease.", Range{1_s, 1_h},
      Source{"kubelet: a quarter of nodeLeaseDurationSeconds 40"});
    v("lease_bytes", lease_bytes, "Of a Lease.", Range{1_B, 1_MiB},
      Source{"published: KEP-589, about 300 B"});
    v("status_period", status_period, "Between writes of a status that does not change.",
      Range{1_s, 24_h},
      Source{"kubelet: nodeStatusReportFrequency, since 1.17; 1 min in 1.14, 10 s before"},
      Heeded{Fact::FullPlane});
    v("status_bytes", status_bytes, "Of a Node.", Range{1_B, 1_MiB},
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
    v("initial", initial, "The first back-off; doubled each time.", Range{1_ms, 1_h},
      Source{"kubelet: 10 s"});
    v("most", most, "The longest back-off.", Range{1_ms, 24_h}, Source{"kubelet: 5 min"});
    v("reset_after", reset_after, "A container that ran this long resets its back-off.",
      Range{1_s, 168_h}, Source{"kubelet: 10 min"});
    v("is_first_restart_free", is_first_restart_free, "Whether the first restart is immediate.",
      Source{"kubelet: kubernetes issue 133472; KEP-4603 counts on it"});
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
    v("registry", registry, "Of all nodes together.", Range{Bandwidth{1}, {1'000'000'000'000'000}},
      Source{"estimate: a mirror in the cluster on one 100 Gb/s port"}, Heeded{Fact::FullPlane});
    v("node", node, "Of one node: its network or what it unpacks, whichever is less.",
      Range{Bandwidth{1}, {1'000'000'000'000'000}},
      Source{"published: OpenAI at 2,500 nodes, 17 GB in about 30 min"});
    v("latency", latency, "Before the first byte of an image.", Range{Duration{}, 1_h},
      Source{"0: nothing is known of it"});
    v("parallel", parallel, "Images that a node pulls in parallel; 0: all that it needs.",
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
    v("sandbox", sandbox, "From the observed binding of a pod until its network is set up.",
      Range{Duration{}, 1_h},
      Source{"estimate: a sandbox container and one call of a network plugin"});
    v("container", container, "To create and start one container; containers start one by one.",
      Range{Duration{}, 1_h}, Source{"estimate: two calls of the container runtime"});
    v("status_writes", status_writes, "Writes of a pod's status for a start or a restart.",
      Range{0, 1'000}, Unit{"writes"}, Source{"published: KEP-4603, 5"}, Heeded{Fact::FullPlane});
    v("heartbeats", heartbeats, "Its periodic writes.", Heeded{Fact::SilentNodes});
    v("crash_loop", crash_loop, "When it restarts ended containers: see crash_loops.",
      Heeded{Fact::FullPlane}, Heeded{Fact::CrashLoops});
  }
};

}  // namespace orrery
