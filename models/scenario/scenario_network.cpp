#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "models/scenario/scenario_checks.hpp"

namespace orrery {
namespace {

std::string item(std::string_view list, size_t index, std::string_view field) {
  std::string path{"faults.links."};
  return path.append(list).append("[").append(std::to_string(index)).append("].").append(field);
}

// Warns of a change that sets the routing engine which is already in use at that time. Changes take
// effect in the order of their times, or of the list if the times are equal.
void check_routing_changes(const Scenario& scenario, Checker& c) {
  const std::vector<RoutingChangeParams>& changes = scenario.faults.links.routing;
  std::vector<size_t> order(changes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&](size_t i) { return changes[i].at; });
  RoutingEngine engine = scenario.network.routing.engine;
  for (const size_t i : order) {
    if (changes[i].engine == engine) {
      c.warning(item("routing", i, "engine"), "is in use by then: nothing changes");
    }
    engine = changes[i].engine;
  }
}

}  // namespace

// Warns of changes of the routing that have no effect and, in a run without `until`, of dead links
// that are never repaired.
void check_network(const Scenario& scenario, Checker& c) {
  if (scenario.network.level != NetworkLevel::Flow) return;
  const LinkFaultParams& links = scenario.faults.links;
  check_routing_changes(scenario, c);
  for (size_t i = 0; i < links.list.size(); ++i) {
    const bool is_dead = kind_of(links.list[i].flaw) == LinkFlawKind::Dead;
    if (!is_dead || links.list[i].until || scenario.run.until) continue;
    c.warning(item("list", i, "flaw"),
              "is never repaired, and the run has no end: a job without another route may give up "
              "and restart for ever");
  }
}

}  // namespace orrery
