#include "models/faults/link_faults.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "sim/core/check.hpp"

namespace orrery {
namespace {

constexpr Duration kMonth = 30_d;

Duration draw_flap(const FlappingLink& flap, Rng& rng) {
  const double seconds = rng.lognormal(std::log(flap.median.seconds()), flap.sigma);
  return std::max(1_ns, nearest_ns(seconds));
}

// from + span, but at most Time::max(), because the end of a fault may lie beyond the range of
// Time.
Time later(Time from, Duration span) {
  return span >= Time::max() - from ? Time::max() : from + span;
}

}  // namespace

LinkFaults::LinkFaults(Sim sim, Network& network, const LinkFaultParams& params)
    : sim_{sim},
      network_{network},
      params_{params},
      rows_{sim.recorder, "/events/link_faults",
            "Faults of cables and switches: one row per fault, in the order in which the faults "
            "ended."} {
  for (uint32_t s = 0; s < params_.random.size(); ++s) {
    streams_.push_back(sim.rng.stream("faults.link", s));
  }
}

void LinkFaults::start() {
  for (uint32_t i = 0; i < params_.list.size(); ++i) {
    sim_.engine.at(
        Time{} + params_.list[i].at, Label{"faults.link_listed"}, [this, i] { strike_listed(i); },
        Phase::Fault);
  }
  for (uint32_t s = 0; s < params_.random.size(); ++s) wait_for(s);
  for (const RoutingChangeParams& change : params_.routing) {
    const RoutingEngine engine = change.engine;
    sim_.engine.at(
        Time{} + change.at, Label{"faults.routing_changed"},
        [this, engine] { network_.set_engine(engine); }, Phase::Fault);
  }
}

void LinkFaults::finish() {
  for (const Fault& fault : active_) {
    if (fault.lasts) write_row(fault, Time{-1});
  }
}

LinkFaults::Target LinkFaults::find(std::string_view name) const {
  const Fabric& fabric = network_.fabric();
  return {fabric.find_cable(name), fabric.find_switch(name)};
}

LinkFaults::Target LinkFaults::draw(FabricPart part, Rng& rng) const {
  const Fabric& fabric = network_.fabric();
  const FatTree& tree = fabric.tree();
  const auto nth = static_cast<uint32_t>(rng.below(count_of(fabric, part)));
  const auto nics = static_cast<uint32_t>(fabric.nics());
  switch (part) {
    case FabricPart::NicCables:
      return {.cable = {nth}};
    case FabricPart::LeafCables:
      return {.cable = {nics + nth}};
    case FabricPart::SpineCables:
      return {.cable = {nics + tree.leaf_cables() + nth}};
    case FabricPart::Leaves:
      return {.switch_id = {nth}};
    case FabricPart::Spines:
      return {.switch_id = {tree.leaves + nth}};
    case FabricPart::Cores:
      break;
  }
  return {.switch_id = {tree.leaves + tree.spines() + nth}};
}

void LinkFaults::strike_listed(uint32_t index) {
  const ListedLinkFaultParams& listed = params_.list[index];
  Rng rng = sim_.rng.stream("faults.link.listed", index);
  const Target on = listed.among ? draw(*listed.among, rng) : find(listed.on);
  const auto* const flap = std::get_if<FlappingLink>(&listed.flaw);
  const Time now = sim_.engine.now();
  const Time until = flap != nullptr ? later(now, draw_flap(*flap, rng))
                     : listed.until  ? Time{} + *listed.until
                                     : Time::max();
  begin({.on = on, .flaw = &listed.flaw, .source = kListed, .from = now}, until);
}

void LinkFaults::wait_for(uint32_t source) {
  const RandomLinkFaultParams& kind = params_.random[source];
  const double a_month = count_of(network_.fabric(), kind.among) * kind.rate / 100;
  if (a_month == 0) return;
  const double seconds = streams_[source].exponential() * kMonth.seconds() / a_month;
  const Time when = later(sim_.engine.now(), std::max(1_ns, nearest_ns(seconds)));
  if (when == Time::max()) return;  // the next fault lies beyond the range of Time
  sim_.engine.at(
      when, Label{"faults.link_struck"}, [this, source] { strike_random(source); }, Phase::Fault);
}

void LinkFaults::strike_random(uint32_t source) {
  const RandomLinkFaultParams& kind = params_.random[source];
  Rng& rng = streams_[source];
  const Target on = draw(kind.among, rng);
  const auto* const flap = std::get_if<FlappingLink>(&kind.flaw);
  const Duration span = flap != nullptr
                            ? draw_flap(*flap, rng)
                            : std::visit([&](const auto& d) { return d.draw(rng); }, kind.repair);
  const Time now = sim_.engine.now();
  begin({.on = on, .flaw = &kind.flaw, .source = source, .from = now}, later(now, span));
  wait_for(source);
}

void LinkFaults::begin(Fault fault, Time until) {
  ORRERY_CHECK(fault.on.cable.is_valid() || fault.on.switch_id.is_valid(),
               "LinkFaultParams::check refuses unknown names");
  ++faults_;
  fault.lasts = true;
  auto index = static_cast<uint32_t>(active_.size());
  if (free_.empty()) {
    active_.push_back(fault);
  } else {
    index = free_.back();
    free_.pop_back();
    active_[index] = fault;
  }
  apply(fault.on);
  if (until == Time::max()) return;
  sim_.engine.at(
      until, Label{"faults.link_mended"}, [this, index] { end(index); }, Phase::Fault);
}

void LinkFaults::end(uint32_t index) {
  Fault& fault = active_[index];
  fault.lasts = false;
  apply(fault.on);
  write_row(fault, sim_.engine.now());
  free_.push_back(index);
}

void LinkFaults::apply(const Target& target) {
  bool is_up = true;
  double error_rate = 0, factor = 1;
  for (const Fault& fault : active_) {
    if (!fault.lasts || fault.on != target) continue;
    if (const auto* const degraded = std::get_if<DegradedLink>(fault.flaw)) {
      error_rate += degraded->bit_error_rate * (1 - error_rate);
    } else if (const auto* const cursed = std::get_if<CursedLink>(fault.flaw)) {
      factor = std::max(factor, cursed->factor);
    } else {
      if (!is_up) ORRERY_MARK("faults.link_was_down_already");
      is_up = false;
    }
  }
  const Time now = sim_.engine.now();
  LinkState& state = network_.state();
  if (target.switch_id.is_valid()) return state.set_up(target.switch_id, is_up, now);
  state.set_up(target.cable, is_up, now);
  state.set_bit_error_rate(target.cable, error_rate, now);
  state.curse(target.cable, factor);
}

void LinkFaults::write_row(const Fault& fault, Time to) {
  const Fabric& fabric = network_.fabric();
  const bool is_switch = fault.on.switch_id.is_valid();
  const std::string name =
      is_switch ? fabric.name(fault.on.switch_id) : fabric.name(fault.on.cable);
  LinkFaultRow row{.name = std::string_view{name},
                   .cable = fault.on.cable,
                   .switch_id = fault.on.switch_id,
                   .kind = kind_of(*fault.flaw),
                   .cause = std::string_view{"list"},
                   .from = fault.from,
                   .to = to};
  if (fault.source != kListed) row.cause = std::string_view{params_.random[fault.source].name};
  if (!is_switch) {
    row.symbol_errors = network_.state().symbol_errors(fault.on.cable, sim_.engine.now());
  }
  rows_.emit(row);
}

}  // namespace orrery
