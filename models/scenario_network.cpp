#include <algorithm>
#include <string>
#include <utility>

#include "models/scenario.hpp"
#include "sim/config/quantity.hpp"

namespace orrery {
namespace {

bool is_ever_adaptive(const Scenario& scenario) {
  return is_adaptive(scenario.network.routing.engine) ||
         std::ranges::any_of(scenario.faults.links.routing,
                             [](const auto& change) { return is_adaptive(change.engine); });
}

std::string item(std::string_view list, size_t index, std::string_view field) {
  std::string path{"faults.links."};
  return path.append(list).append("[").append(std::to_string(index)).append("].").append(field);
}

void warn_if_after(const Scenario& scenario, Duration at, const std::string& field, Checker& c) {
  if (!scenario.run.until || at <= *scenario.run.until) return;
  c.warning(field,
            "is after run.until, " + format_quantity(*scenario.run.until) + ": it does not happen");
}

}  // namespace

// What faults of links and the network say about one another.
void check_network(const Scenario& scenario, Checker& c) {
  const LinkFaultParams& links = scenario.faults.links;
  if (scenario.network.routing.choose_every && !is_ever_adaptive(scenario)) {
    c.error("network.routing.choose_every", "has an effect only with an adaptive engine");
  }
  const bool is_empty = links.list.empty() && links.random.empty() && links.routing.empty();
  if (!is_empty && scenario.network.level != NetworkLevel::Flow) {
    c.error("faults.links", "has an effect only with network.level: flow");
    return;
  }
  const bool may_be_cursed = is_ever_adaptive(scenario);
  const auto check_curse = [&](const LinkFlaw& flaw, const std::string& field) {
    if (kind_of(flaw) != LinkFlawKind::Cursed || may_be_cursed) return;
    c.error(field, "a curse has no effect: network.routing.engine is not adaptive, nor becomes so");
  };
  for (size_t i = 0; i < links.list.size(); ++i) {
    check_curse(links.list[i].flaw, item("list", i, "flaw"));
    warn_if_after(scenario, links.list[i].at, item("list", i, "at"), c);
    const bool is_dead = kind_of(links.list[i].flaw) == LinkFlawKind::Dead;
    if (!is_dead || links.list[i].until || scenario.run.until) continue;
    c.warning(item("list", i, "flaw"),
              "is never repaired, and the run has no end: a job that has no other way may give up "
              "and restart for ever");
  }
  for (size_t i = 0; i < links.random.size(); ++i) {
    check_curse(links.random[i].flaw, item("random", i, "flaw"));
  }
  for (size_t i = 0; i < links.routing.size(); ++i) {
    warn_if_after(scenario, links.routing[i].at, item("routing", i, "at"), c);
  }
}

}  // namespace orrery
