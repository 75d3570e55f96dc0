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
    c("time", &ScalingRow::time, "when the size changed");
    c("pool", &ScalingRow::pool, "whose size changed");
    c("kind", &ScalingRow::kind,
      "nodes asked for; idle ones taken away, ready or not; nodes given up that never registered");
    c("nodes", &ScalingRow::nodes, "how many", "nodes");
    c("size", &ScalingRow::size, "of the pool after that, with those on their way", "nodes");
    c("pods", &ScalingRow::pods, "that nodes were asked for; else 0", "pods");
    c("waited_mean", &ScalingRow::waited_mean,
      "by these, since the scheduler first found no node for them");
    c("waited_max", &ScalingRow::waited_max, "likewise, the longest");
  }
};

struct AutoscalerSample {
  Time time;
  FixedText<32> pool = {};
  uint32_t size = 0, asked = 0, idle = 0;
  bool backs_off = false;

  static void columns(auto&& c) {
    c("time", &AutoscalerSample::time, "end of the interval; all columns are of that instant");
    c("pool", &AutoscalerSample::pool, "that is scaled");
    c("size", &AutoscalerSample::size, "nodes there are or that are on their way", "nodes");
    c("asked", &AutoscalerSample::asked, "of these, on their way: not ready since they were asked",
      "nodes");
    c("idle", &AutoscalerSample::idle, "of these, ready once and without a pod", "nodes");
    c("backs_off", &AutoscalerSample::backs_off, "it is left alone, as nodes did not come");
  }
};

}  // namespace orrery
