// models/telemetry/cardiogram_rows.hpp -- rows of /timeline/cardiogram.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "sim/core/id.hpp"
#include "sim/core/time.hpp"
#include "sim/record/column.hpp"

namespace orrery {

enum class RankPhase : uint8_t {
  Idle,     // has no GPU
  Init,     // pulls images, waits for its gang, or sets up communicators
  Restore,  // loads a checkpoint
  Compute,
  Exchange,  // waits for the part of an exchange that compute does not hide
  // Waits for other pipeline stages or slower machines, updates parameters, or reads data. A
  // dedicated parameter server waits for workers.
  Wait,
  Checkpoint,  // writes or copies a checkpoint
  Hung,        // waits for a dead rank
  Dead,
};
inline constexpr size_t kRankPhases = 9;
constexpr std::array<std::string_view, kRankPhases> enum_names(RankPhase) {
  return {"idle", "init", "restore", "compute", "exchange", "wait", "checkpoint", "hung", "dead"};
}

struct CardiogramRow {
  Time time;
  uint64_t job = 0;
  uint32_t rank = 0;
  NodeId node;
  RankPhase phase = RankPhase::Idle;
  double reported = 0, power_watts = 0, network_bps = 0;
  double computing = 0, exchange = 0, checkpoint = 0;

  static void columns(auto&& c) {
    c("time", &CardiogramRow::time,
      "end of the interval; columns from `reported` on are means over it");
    c("job", &CardiogramRow::job, "serial number of the job");
    c("rank", &CardiogramRow::rank, "index of the GPU in the job, from 0, counted pod by pod");
    c("node", &CardiogramRow::node, "node of the rank at the end of the interval");
    c("phase", &CardiogramRow::phase,
      "activity with the largest share of the interval. idle: the rank has no GPU; init: image "
      "pull, set-up; hung: the rank waits for a lost rank");
    c("reported", &CardiogramRow::reported,
      "GPU utilisation as nvidia-smi shows it: computing, or spinning in a busy wait", "%");
    c("power_watts", &CardiogramRow::power_watts, "power of the GPU", "W");
    c("network_bps", &CardiogramRow::network_bps,
      "data that the GPU sends to other nodes; the data of a NIC are divided equally among its "
      "GPUs; 0 without network.level: flow",
      "bit/s");
    c("computing", &CardiogramRow::computing, "share of the interval in which the GPU computes");
    c("exchange", &CardiogramRow::exchange,
      "share of the interval in exchanges and other waits within training steps, as in "
      "exchange_gpu_s of /jobs");
    c("checkpoint", &CardiogramRow::checkpoint,
      "share of the interval in which the rank writes checkpoints");
  }
};

}  // namespace orrery
