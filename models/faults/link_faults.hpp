// models/faults/link_faults.hpp -- cables and switches that break and are repaired.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "models/faults/link_fault_params.hpp"
#include "models/network/network.hpp"
#include "sim/core/id.hpp"
#include "sim/core/rng.hpp"
#include "sim/core/time.hpp"
#include "sim/record/channel.hpp"
#include "sim/runtime/sim.hpp"

namespace orrery {

struct LinkFaultRow {  // one fault of one cable or switch
  FixedText<40> name;
  CableId cable{};
  SwitchId switch_id{};
  LinkFlawKind kind = LinkFlawKind::Dead;
  FixedText<24> cause;
  Time from;
  Time to = Time{-1};
  int64_t symbol_errors = 0;

  static void columns(auto&& c) {
    c("name", &LinkFaultRow::name, "name of the cable or switch");
    c("cable", &LinkFaultRow::cable, "the cable; none if a switch failed");
    c("switch", &LinkFaultRow::switch_id, "the switch; none if a cable failed");
    c("kind", &LinkFaultRow::kind,
      "dead: carries nothing until repaired; flap: carries nothing for a while, recovers by "
      "itself; degraded: bit errors, so packets are sent again; cursed: slow while routing is "
      "adaptive");
    c("cause", &LinkFaultRow::cause,
      "name of the entry of faults.links.random that caused the fault; 'list' for a fault from "
      "faults.links.list");
    c("from", &LinkFaultRow::from, "when the fault began");
    c("to", &LinkFaultRow::to, "when the fault ended; -1: not in this run");
    c("symbol_errors", &LinkFaultRow::symbol_errors,
      "symbol errors counted on the cable from the start of the run until the fault or the run "
      "ended; 0 for a switch");
  }
};

// Each kind of random fault is one Poisson process over all parts that it may strike. It has a
// random stream of its own for times, targets and durations, so runs with different policies see
// the same faults. Faults of one cable combine while they overlap. The cable is down while any
// fault takes it down. Bit errors of different faults are independent: bit error rates of 1e-12 and
// 2e-12 together make 3e-12. Of several CursedLink flaws, the largest slowdown applies.
class LinkFaults {
 public:
  // `params` must have passed LinkFaultParams::check. The network must outlive this object.
  LinkFaults(Sim sim, Network& network, const LinkFaultParams& params);
  LinkFaults(const LinkFaults&) = delete;
  LinkFaults& operator=(const LinkFaults&) = delete;

  void start();
  void finish();  // writes the rows of faults not yet repaired
  uint64_t faults() const { return faults_; }

 private:
  struct Target {  // either a cable or a switch; the other id is invalid
    CableId cable{};
    SwitchId switch_id{};
    bool operator==(const Target&) const = default;
  };
  struct Fault {
    Target on;
    const LinkFlaw* flaw = nullptr;
    uint32_t source = 0;  // index into params_.random, or kListed
    Time from;
    bool lasts = false;
  };
  static constexpr uint32_t kListed = UINT32_MAX;
  Target find(std::string_view name) const;
  Target draw(FabricPart part, Rng& rng) const;
  void strike_listed(uint32_t index);
  void wait_for(uint32_t source);
  void strike_random(uint32_t source);
  void begin(Fault fault, Time until);
  void end(uint32_t index);
  void apply(const Target& target);
  void write_row(const Fault& fault, Time to);

  Sim sim_;
  Network& network_;
  LinkFaultParams params_;
  std::vector<Rng> streams_;   // one stream for each kind in params_.random
  std::vector<Fault> active_;  // faults in effect, and entries of ended faults for reuse
  std::vector<uint32_t> free_;
  uint64_t faults_ = 0;
  Channel<LinkFaultRow> rows_;
};

}  // namespace orrery
