// models/faults/link_fault_params.hpp -- faults of cables and switches, as a scenario describes
// them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/facts/fact.hpp"
#include "models/faults/link_flaw.hpp"
#include "models/faults/repair.hpp"
#include "models/network/fabric/fabric.hpp"
#include "models/network/routing/routing_params.hpp"
#include "sim/config/diagnostics.hpp"
#include "sim/config/node.hpp"
#include "sim/config/options.hpp"
#include "sim/core/time.hpp"

namespace orrery {

// Kinds of cables (named after their lower end) and kinds of switches. Example: leaf cables lead
// from a leaf up to a spine.
enum class FabricPart : uint8_t { NicCables, LeafCables, SpineCables, Leaves, Spines, Cores };
constexpr std::array<std::string_view, 6> enum_names(FabricPart) {
  return {"nic_cables", "leaf_cables", "spine_cables", "leaves", "spines", "cores"};
}
constexpr bool are_switches(FabricPart part) { return part >= FabricPart::Leaves; }

struct ListedLinkFaultParams {
  static constexpr std::string_view kDoc = "What happens to a cable or a switch at a given time.";

  std::string on = {};
  std::optional<FabricPart> among = {};
  Duration at = {};
  std::optional<Duration> until = {};
  LinkFlaw flaw = {};

  template <class V>
  void fields(V& v) {
    v("on", on,
      "Name of the cable or switch, such as host-2.nic-0, leaf-3.up-5, leaf-3 or spine-0.up-1.",
      Example{"leaf-3.up-5"});
    v("among", among, "Instead of `on`: the fault strikes one part of this kind, drawn at random.");
    v("at", at, "Time of the fault, from the start of the run.", Required{}, IsInstant{});
    v("until", until, "Time of the repair, from the start of the run; absent: never in this run.",
      Heeded{kind_of(flaw) != LinkFlawKind::Flap, "flaw is a flap, which ends by itself"});
    v("flaw", flaw, "The flaw. For a switch, the kind must be dead or flap.", Required{},
      Heeded{Fact::AdaptiveRouting, kind_of(flaw) == LinkFlawKind::Cursed,
             "kind is cursed, and routing is never adaptive"});
  }
  template <class C>
  void check(C& c) const {
    if (on.empty() == !among.has_value()) c.error("on", "give either a name or `among`");
    if (until && *until <= at) c.error("until", "must be after `at`");
  }
};

struct RandomLinkFaultParams {
  static constexpr std::string_view kDoc = "What happens to cables or switches at random.";

  std::string name = "link";
  FabricPart among = FabricPart::NicCables;
  double rate = 0.057;
  LinkFlaw flaw = {};
  RepairDistribution repair = ExponentialRepair{.mean = 247_min};

  template <class V>
  void fields(V& v) {
    v("name", name, "Name of this kind of fault in /events/link_faults.");
    v("among", among,
      "The kind of part that the fault strikes. All parts of this kind have the same probability.");
    v("rate", rate,
      "Percentage of these parts that the fault strikes in a month of 30 days. Alibaba published "
      "0.057 % for links from NIC to leaf, and 0.051 % for leaf switches.",
      Range{0.0, 1e6}, Unit{"% a month"}, Source{"HPN, SIGCOMM'24: links from NIC to leaf"});
    v("flaw", flaw, "The flaw. For a switch, the kind must be dead or flap.",
      Heeded{Fact::AdaptiveRouting, kind_of(flaw) == LinkFlawKind::Cursed,
             "kind is cursed, and routing is never adaptive"});
    v("repair", repair, "Time until the part is repaired.",
      Source{"mean repair of LANL's network failures"},
      Heeded{kind_of(flaw) != LinkFlawKind::Flap, "flaw is a flap, which ends by itself"});
  }
  template <class C>
  void check(C& c) const {
    if (name.empty()) c.error("name", "must not be empty");
    if (rate == 0) c.warning("rate", "this kind of fault never strikes");
  }
};

struct RoutingChangeParams {
  static constexpr std::string_view kDoc = "The routing engine is changed while jobs run.";
  Duration at = {};
  RoutingEngine engine = RoutingEngine::Dmodk;
  template <class V>
  void fields(V& v) {
    v("at", at, "Time of the change, from the start of the run.", Required{}, IsInstant{});
    v("engine", engine, "The engine from then on; dmodk is OpenSM's ftree.", Required{});
  }
};

struct LinkFaultParams {
  static constexpr std::string_view kDoc = "Cables and switches; with network.level: flow.";

  std::vector<ListedLinkFaultParams> list = {};
  std::vector<RandomLinkFaultParams> random = {};
  std::vector<RoutingChangeParams> routing = {};

  template <class V>
  void fields(V& v) {
    v("list", list, "Faults at given times.");
    v("random", random, "Kinds of random faults; they strike independently of one another.");
    v("routing", routing,
      "Changes of the routing engine. Cursed cables are slow only while the engine is adaptive.",
      Heeded{Fact::Spines});
  }
  // Whether any listed or random fault has kind `cursed`. Such a fault slows a cable only while
  // routing is adaptive.
  bool has_curse() const;
  // Reports faults of parts that the fabric does not have. Also reports faults of switches that
  // have another kind than dead or flap. `section` is the document's `faults.links`.
  void check(const Fabric& fabric, const config::Node& section, Diagnostics& diagnostics) const;
};

uint32_t count_of(const Fabric& fabric, FabricPart part);

}  // namespace orrery
