// models/telemetry/network_usage.hpp -- traffic of cables: rows of /links and /timeline/network.
#pragma once

#include <array>
#include <cstdint>
#include <map>

#include "models/network/network.hpp"
#include "models/workload/steps/gang_steps.hpp"
#include "sim/core/time.hpp"
#include "sim/record/channel.hpp"
#include "sim/runtime/sim.hpp"

namespace orrery {

enum class CableTier : uint8_t { Nic, Leaf, Spine };  // named after the lower end
constexpr std::array<std::string_view, 3> enum_names(CableTier) { return {"nic", "leaf", "spine"}; }

struct LinkRow {
  CableId cable{};
  FixedText<40> name = {};
  CableTier tier = CableTier::Nic;
  FixedText<40> lower = {}, upper = {};
  Bandwidth nominal{}, capacity{};
  Bytes bytes_up{}, bytes_down{};
  int64_t symbol_errors = 0;
  uint32_t times_down = 0;
  Duration downtime{};

  static void columns(auto&& c) {
    c("cable", &LinkRow::cable, "the cable");
    c("name", &LinkRow::name, "name of the cable");
    c("tier", &LinkRow::tier, "what is at its lower end: a NIC, a leaf or a spine");
    c("lower", &LinkRow::lower, "switch or NIC at its lower end");
    c("upper", &LinkRow::upper, "switch at its upper end");
    c("nominal", &LinkRow::nominal, "its nominal rate in each direction");
    c("capacity", &LinkRow::capacity,
      "upward rate that the cable could carry at the end of the run, reduced by its faults");
    c("bytes_up", &LinkRow::bytes_up, "bytes carried upwards, away from NICs");
    c("bytes_down", &LinkRow::bytes_down, "bytes carried downwards, towards NICs");
    c("symbol_errors", &LinkRow::symbol_errors, "symbol errors counted on the cable in the run");
    c("times_down", &LinkRow::times_down,
      "how often it went down, failures of its switches included");
    c("downtime", &LinkRow::downtime, "how long it was down in all");
  }
};

struct NetworkSample {
  Time time;
  double nic_rate = 0, leaf_rate = 0, spine_rate = 0;
  uint32_t cables_down = 0, cables_slow = 0;
  int64_t symbol_errors = 0;
  uint32_t gangs_still = 0;

  static void columns(auto&& c) {
    c("time", &NetworkSample::time, "end of the interval; rates are means over it");
    c("nic_rate", &NetworkSample::nic_rate, "data sent by all NICs", "bit/s");
    c("leaf_rate", &NetworkSample::leaf_rate, "data sent by leaves up to spines", "bit/s");
    c("spine_rate", &NetworkSample::spine_rate, "data sent by spines up to cores", "bit/s");
    c("cables_down", &NetworkSample::cables_down, "cables that are down now", "cables");
    c("cables_slow", &NetworkSample::cables_slow,
      "cables that are up, but below their nominal rate now: degraded by bit errors, or "
      "slowed by a fault of kind `cursed` while routing is adaptive",
      "cables");
    c("symbol_errors", &NetworkSample::symbol_errors,
      "symbol errors that all ports counted in the interval");
    c("gangs_still", &NetworkSample::gangs_still,
      "gangs whose exchange is blocked now, because a link is down", "gangs");
  }
};

// Rates are means over an interval, in which gangs also compute. So these means are below the rate
// during an exchange. /links has a row for each cable that carried bytes, counted errors, was down,
// or ends the run below its nominal rate.
class NetworkUsage {
 public:
  // `network` and `steps` must outlive this object.
  NetworkUsage(Sim sim, Network& network, const GangSteps& steps);
  NetworkUsage(const NetworkUsage&) = delete;
  NetworkUsage& operator=(const NetworkUsage&) = delete;

  void sample(Time now);  // called at the end of each interval of Timeline
  void finish(Time end);

 private:
  struct Down {
    uint32_t times = 0;
    bool is_down = false;
    Time since;
    Duration total;
  };
  void link_changed(LinkId link);

  Sim sim_;
  Network& network_;
  const GangSteps& steps_;
  Time sampled_to_;
  std::array<double, 3> sent_{};  // bytes sent up to each tier until the last sample
  int64_t symbol_errors_ = 0;     // sum over all cables at the last sample
  std::map<CableId, Down> down_;  // cables that went down
  Channel<LinkRow> link_rows_;
  Channel<NetworkSample> samples_;
};

}  // namespace orrery
