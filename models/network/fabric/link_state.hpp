// models/network/fabric/link_state.hpp -- state of cables and switches: capacities and error
// counters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "models/hardware/nic_errors.hpp"
#include "models/network/fabric/fabric.hpp"
#include "models/network/fabric/link_params.hpp"
#include "sim/core/time.hpp"
#include "sim/engine/signal.hpp"

namespace orrery {

// Goodput as a share of a link's rate B at a bit error rate BER. A packet of L bits is damaged with
// probability p = 1 - (1 - BER)^L. A damaged packet stalls its sender for the timeout T. So a
// packet takes L / B + p T on average instead of L / B, and the share is 1 / (1 + p T B / L).
double goodput_share(double bit_error_rate, Bandwidth rate, Duration ack_timeout);

// State of cables and switches, and an error counter for each cable. LinkFaults
// breaks and repairs cables and switches through this class. The flow network follows
// `capacity_changed`.
class LinkState {
 public:
  // `is_adaptive`: routes are chosen by load. If false, curse() does not slow cables.
  LinkState(const Fabric& fabric, const LinkParams& params, bool is_adaptive = false);

  bool is_up(CableId cable) const { return blocked_[cable.index] == 0; }
  bool is_up(SwitchId s) const { return !switch_down_[s.index]; }
  // Nominal rate x goodput share; while routing is adaptive, divided by the factor that curse()
  // set. Rounded down. 0 if the cable is down.
  Bandwidth capacity(LinkId link) const;

  void set_up(CableId cable, bool is_up, Time now);
  void set_up(SwitchId s, bool is_up, Time now);  // the cables of a dead switch are down
  void set_bit_error_rate(CableId cable, double rate, Time now);  // 0: no errors
  // Slows the cable down: while routing is adaptive, its capacity is divided by `factor`. A factor
  // of 1 removes the slowdown.
  void curse(CableId cable, double factor);
  void set_adaptive(bool is_adaptive);  // to be called when the routing engine changes

  double bit_error_rate(CableId cable) const;
  // The cable's error counter: nominal rate x BER x time, summed up over all degradations so far
  // and rounded. Errors in idle symbols are included; a dead cable adds no errors.
  int64_t symbol_errors(CableId cable, Time now) const;
  int64_t symbol_errors(Time now) const;  // sum over all cables
  // Nodes whose NICs counted errors, in order of nodes.
  std::vector<NicErrors> nic_errors(Time now) const;
  uint32_t cables_down() const { return cables_down_; }
  uint32_t cables_slow() const;  // up, but degraded or cursed below their nominal rate

  Signal<LinkId>& capacity_changed() { return capacity_changed_; }
  // Increases whenever a cable or switch goes up or down, and when set_adaptive() changes the
  // routing.
  uint64_t routes_version() const { return routes_version_; }
  size_t memory_bytes() const;

 private:
  struct Flaw {
    double bit_error_rate = 0;
    double curse = 1;
    double errors = 0;  // counted until `since`
    Time since = {};
  };
  void block(CableId cable, int by, Time now);
  void tell(CableId cable);
  double errors_until(CableId cable, const Flaw& flaw, Time now) const;
  void count_errors(CableId cable, Flaw& flaw, Time now) const;

  const Fabric& fabric_;
  Duration ack_timeout_;
  bool is_adaptive_;
  // By cable: 1 if the cable is dead, plus 1 for each dead switch at its ends.
  std::vector<uint8_t> blocked_;
  std::vector<bool> cable_down_, switch_down_;
  std::map<CableId, Flaw> flaws_;  // only the few cables that have or had a flaw
  Signal<LinkId> capacity_changed_;
  uint64_t routes_version_ = 0;
  uint32_t cables_down_ = 0;
};

}  // namespace orrery
