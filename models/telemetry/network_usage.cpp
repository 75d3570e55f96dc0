#include "models/telemetry/network_usage.hpp"

#include <string>
#include <utility>

namespace orrery {

NetworkUsage::NetworkUsage(Sim sim, Network& network, const GangSteps& steps)
    : sim_{sim},
      network_{network},
      steps_{steps},
      link_rows_{sim.recorder, "/links",
                 "Cables with traffic or faults; written at the end of the run."},
      samples_{sim.recorder, "/timeline/network", "The compute network over time."} {
  network.state().capacity_changed().connect([this](LinkId link) { link_changed(link); });
}

void NetworkUsage::link_changed(LinkId link) {
  if (!leads_up(link)) return;  // the upward link signals the same change
  const CableId cable = cable_of(link);
  const bool is_down = !network_.state().is_up(cable);
  if (!is_down && !down_.contains(cable)) return;
  Down& down = down_[cable];
  if (down.is_down == is_down) return;
  down.is_down = is_down;
  if (is_down) {
    ++down.times;
    down.since = sim_.engine.now();
  } else {
    down.total += sim_.engine.now() - down.since;
  }
}

void NetworkUsage::sample(Time now) {
  NetworkSample row{.time = now,
                    .cables_down = network_.state().cables_down(),
                    .cables_slow = network_.state().cables_slow(),
                    .gangs_still = steps_.counters().standing_still};
  const double seconds = (now - sampled_to_).seconds();
  const auto rate = [&](SwitchTier to) {
    double& before = sent_[static_cast<size_t>(to)];
    const double sent = network_.sent_by(to);
    const double bits = 8 * (sent - std::exchange(before, sent));
    return seconds > 0 ? bits / seconds : 0.0;
  };
  row.nic_rate = rate(SwitchTier::Leaf);
  row.leaf_rate = rate(SwitchTier::Spine);
  row.spine_rate = rate(SwitchTier::Core);
  const int64_t errors = network_.state().symbol_errors(now);
  row.symbol_errors = errors - std::exchange(symbol_errors_, errors);
  sampled_to_ = now;
  samples_.emit(row);
}

void NetworkUsage::finish(Time end) {
  if (!link_rows_.is_on()) return;
  network_.flows().book_carried();
  const Fabric& fabric = network_.fabric();
  for (uint32_t i = 0; i < fabric.cables(); ++i) {
    const CableId cable{i};
    const auto down = down_.find(cable);
    LinkRow row{.cable = cable,
                .nominal = fabric.nominal(cable),
                .capacity = network_.state().capacity(up_link(cable)),
                .bytes_up = network_.flows().carried(up_link(cable)),
                .bytes_down = network_.flows().carried(down_link(cable)),
                .symbol_errors = network_.state().symbol_errors(cable, end)};
    const bool has_news = row.bytes_up > Bytes{} || row.bytes_down > Bytes{} ||
                          row.symbol_errors > 0 || row.capacity != row.nominal ||
                          down != down_.end();
    if (!has_news) continue;
    const CableEnds ends = fabric.ends(cable);
    const std::string name = fabric.name(cable), upper = fabric.name(ends.upper);
    const std::string lower = ends.nic.is_valid() ? name : fabric.name(ends.lower);
    row.name = std::string_view{name};
    row.lower = std::string_view{lower};
    row.upper = std::string_view{upper};
    row.tier = static_cast<CableTier>(fabric.tier(ends.upper));
    if (down != down_.end()) {
      row.times_down = down->second.times;
      row.downtime = down->second.total;
      if (down->second.is_down) row.downtime += end - down->second.since;
    }
    link_rows_.emit(row);
  }
}

}  // namespace orrery
