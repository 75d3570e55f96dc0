// models/network/fabric/link_state.hpp -- what each link can carry now: dead, degraded and cursed
// cables.
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

// The share of a link's rate that is left as goodput at a bit error rate. A packet of L bits is
// damaged with p = 1 - (1 - BER)^L; each damaged packet stalls its sender for the time-out T, so
// that a packet takes L / B + p T instead of L / B: goodput = 1 / (1 + p T B / L).
double goodput_share(double bit_error_rate, Bandwidth rate, Duration ack_timeout);

// What the port counters of a node's NICs tell.
// Who breaks and mends cables tells it here; who shares bandwidth listens to `capacity_changed`.
class LinkState {
 public:
  // `is_adaptive`: whether routes are chosen by load, which is when a cursed cable is slow.
  LinkState(const Fabric& fabric, const LinkParams& params, bool is_adaptive = false);

  bool is_up(CableId cable) const { return blocked_[cable.index] == 0; }
  bool is_up(SwitchId s) const { return !switch_down_[s.index]; }
  // Nominal rate x goodput / curse, and 0 if the cable is down; rounded down.
  Bandwidth capacity(LinkId link) const;

  void set_up(CableId cable, bool is_up, Time now);
  void set_up(SwitchId s, bool is_up, Time now);  // a dead switch takes all its cables with it
  void set_bit_error_rate(CableId cable, double rate, Time now);  // 0: as new
  // The cable carries 1 / factor of its rate as long as routing is adaptive; 1: firmware is fixed.
  void curse(CableId cable, double factor);
  void set_adaptive(bool is_adaptive);  // the routing engine was changed

  double bit_error_rate(CableId cable) const;
  // The counter of a port: rate x BER x time since the cable was first degraded, rounded. It
  // counts idle symbols too, but none while the cable is down.
  int64_t symbol_errors(CableId cable, Time now) const;
  int64_t symbol_errors(Time now) const;  // of all cables
  // Of nodes whose NICs counted any, in order of nodes.
  std::vector<NicErrors> nic_errors(Time now) const;
  uint32_t cables_down() const { return cables_down_; }
  uint32_t cables_slow() const;  // up, and degraded or cursed to less than their nominal rate

  Signal<LinkId>& capacity_changed() { return capacity_changed_; }
  // Rises whenever a cable or switch goes up or down, and when routing changes its kind.
  uint64_t routes_version() const { return routes_version_; }
  size_t memory_bytes() const;

 private:
  struct Flaw {
    double bit_error_rate = 0;
    double curse = 1;
    double errors = 0;  // until `since`
    Time since = {};
  };
  void block(CableId cable, int by, Time now);
  void tell(CableId cable);
  double errors_until(CableId cable, const Flaw& flaw, Time now) const;
  void count_errors(CableId cable, Flaw& flaw, Time now) const;

  const Fabric& fabric_;
  Duration ack_timeout_;
  bool is_adaptive_;
  std::vector<uint8_t> blocked_;  // by cable: whether it is dead itself, plus its dead ends
  std::vector<bool> cable_down_, switch_down_;
  std::map<CableId, Flaw> flaws_;  // of the few cables that have or had one
  Signal<LinkId> capacity_changed_;
  uint64_t routes_version_ = 0;
  uint32_t cables_down_ = 0;
};

}  // namespace orrery
