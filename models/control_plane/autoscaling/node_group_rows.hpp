// models/control_plane/autoscaling/node_group_rows.hpp -- rows of /events/scaling and
// /timeline/autoscaler.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "sim/core/time.hpp"
#include "sim/record/column.hpp"

namespace orrery {

enum class ScalingKind : uint8_t { Up, Down, DownUnready, TimedOut };
constexpr std::array<std::string_view, 4> enum_names(ScalingKind) {
  return {"up", "down", "down_unready", "timed_out"};
}

struct ScalingRow {
  Time time;
  FixedText<32> pool = {};
  ScalingKind kind = ScalingKind::Up;
  uint32_t nodes = 0, size = 0;
  uint64_t pods = 0;
  Duration waited_mean = {}, waited_max = {};

  static void columns(auto&& c) {
    c("time", &ScalingRow::time, "when the size of the pool changed");
    c("pool", &ScalingRow::pool, "name of the pool");
    c("kind", &ScalingRow::kind,
      "up: nodes were requested; down: ready nodes were removed; down_unready: unready nodes were "
      "removed; timed_out: requested nodes were given up, as they had not registered in time");
    c("nodes", &ScalingRow::nodes, "number of nodes that were requested, removed or given up",
      "nodes");
    c("size", &ScalingRow::size, "size of the pool after the change, requested nodes included",
      "nodes");
    c("pods", &ScalingRow::pods,
      "pods for which the nodes were requested; 0 if nodes were removed or given up", "pods");
    c("waited_mean", &ScalingRow::waited_mean,
      "mean over these pods of the time from the pod's first failed scheduling attempt to the "
      "request of nodes; 0 without such pods");
    c("waited_max", &ScalingRow::waited_max,
      "maximum over these pods of the time from the pod's first failed scheduling attempt to the "
      "request of nodes; 0 without such pods");
  }
};

struct AutoscalerSample {
  Time time;
  FixedText<32> pool = {};
  uint32_t size = 0, asked = 0, idle = 0;
  bool backs_off = false;

  static void columns(auto&& c) {
    c("time", &AutoscalerSample::time, "end of the interval; all columns are of that instant");
    c("pool", &AutoscalerSample::pool, "name of the pool");
    c("size", &AutoscalerSample::size, "size of the pool, requested nodes included", "nodes");
    c("asked", &AutoscalerSample::asked, "requested nodes that are not ready yet", "nodes");
    c("idle", &AutoscalerSample::idle, "nodes that have become ready and hold no pod now", "nodes");
    c("backs_off", &AutoscalerSample::backs_off,
      "whether the pool is in backoff now: the autoscaler requests no nodes for it, because "
      "nodes requested earlier did not register in time");
  }
};

}  // namespace orrery
