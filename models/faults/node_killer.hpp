// models/faults/node_killer.hpp -- clusterloader2's chaos monkey: nodes taken down in rounds.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/config/fields.hpp"
#include "sim/core/id.hpp"
#include "sim/core/rng.hpp"
#include "sim/engine/engine.hpp"
#include "sim/engine/signal.hpp"

namespace orrery {

struct NodeKillerParams {
  static constexpr std::string_view kDoc =
      "Rounds that take down a share of the nodes that were not taken down before.";
  double failure_rate = 0.01;
  Duration interval = 5_min;
  double jitter = 2;
  Duration downtime = 10_min;

  template <class V>
  void fields(V& v) {
    v("failure_rate", failure_rate,
      "Each round takes down this share of the nodes that no round took down before, rounded up. "
      "So each node is taken down at most once.",
      Range{0.0, 1.0}, Unit{"share"}, Source{"clusterloader2: load test, failureRate"});
    v("interval", interval, "Shortest time from the end of a round to the next round.",
      Range{1_s, 168_h}, Source{"clusterloader2: load test, interval"});
    v("jitter", jitter,
      "A random extra wait of up to this many intervals is added to `interval`. With jitter 2 and "
      "interval 5min, rounds are 5 to 15 min apart.",
      Range{0.0, 100.0}, Unit{"times"}, Source{"clusterloader2: load test, jitterFactor"});
    v("downtime", downtime,
      "How long nodes stay down. They come back together, at the end of the round.",
      Range{1_s, 168_h}, Source{"clusterloader2: load test, simulatedDowntime"});
  }
};

// The interval to the next round begins once the nodes of a round are revived, so rounds never
// overlap. Each node is taken down at most once.
class NodeKiller {
 public:
  NodeKiller(Engine& engine, const NodeKillerParams& params, uint32_t nodes, Rng rng);
  void start();
  uint32_t left() const { return static_cast<uint32_t>(left_.size()); }
  Signal<NodeId> killed, revived;

 private:
  void plan_round();
  void begin_round();
  void end_round();

  Engine& engine_;
  NodeKillerParams params_;
  Rng rng_;
  std::vector<NodeId> left_;  // nodes not yet taken down
  std::vector<NodeId> down_;
};

}  // namespace orrery
