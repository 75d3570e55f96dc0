#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "models/scenario/scenario_checks.hpp"
#include "sim/config/quantity.hpp"

namespace orrery {
namespace {

// Now, or after some change.
bool is_ever(bool (*what)(RoutingEngine), const Scenario& scenario) {
  return what(scenario.network.routing.engine) ||
         std::ranges::any_of(scenario.faults.links.routing,
                             [&](const auto& change) { return what(change.engine); });
}
bool is_ever_adaptive(const Scenario& scenario) { return is_ever(is_adaptive, scenario); }

std::string item(std::string_view list, size_t index, std::string_view field) {
  std::string path{"faults.links."};
  return path.append(list).append("[").append(std::to_string(index)).append("].").append(field);
}

void warn_if_after(const Scenario& scenario, Duration at, const std::string& field, Checker& c) {
  if (!scenario.run.until || at <= *scenario.run.until) return;
  c.warning(field,
            "is after run.until, " + format_quantity(*scenario.run.until) + ": it does not happen");
}

template <class Is>
bool is_any_link_ever(const Is& is, const LinkFaultParams& links) {
  const auto has = [&](const auto& fault) { return is(kind_of(fault.flaw)); };
  return std::ranges::any_of(links.list, has) || std::ranges::any_of(links.random, has);
}
// Nothing else makes an exchange stand still.
constexpr bool is_down(LinkFlawKind kind) {
  return kind == LinkFlawKind::Dead || kind == LinkFlawKind::Flap;
}
constexpr bool damages_packets(LinkFlawKind kind) { return kind == LinkFlawKind::Degraded; }

// Changes in the order of their times, and at the same time in that of the list.
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

// A topology file tells which nodes share leaves.
void check_leaves(const Scenario& scenario, Checker& c) {
  if (scenario.network.level != NetworkLevel::Flow || scenario.network.fabric.file.empty()) return;
  const auto refuse = [&](const std::string& list, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      const std::string field = list + "[" + std::to_string(i) + "].nodes_per_leaf";
      if (!c.is_given(field)) continue;
      c.idle(field, "has no effect: network.fabric.file tells which nodes share leaves");
    }
  };
  refuse("cluster.pools", scenario.cluster.pools.size());
  refuse("cluster.openb_nodes", scenario.cluster.openb_nodes.size());
}

}  // namespace

// Where all NICs share a leaf there is but one way from each to each. A warning: studies of more
// and more nodes begin with few.
void check_fabric(const Scenario& scenario, const Fabric& fabric, Checker& c) {
  constexpr std::string_view kOfCores = "network.fabric.spine_oversubscription";
  if (fabric.tree().levels == 2 && scenario.network.fabric.levels != 2 && c.is_given(kOfCores)) {
    c.warning(kOfCores, "has no effect: the tree has 2 levels, and no cores above its spines");
  }
  if (fabric.tree().levels > 1) return;
  const auto warn = [&](std::string_view field) {
    if (!c.is_given(field)) return;
    c.warning(field, "has no effect: the fabric is a single leaf switch, " +
                         fabric.name(SwitchId{0}) + ", on which all NICs hang");
  };
  constexpr std::string_view kOfTrees[] = {
      "network.fabric.levels", "network.fabric.oversubscription", kOfCores,
      "network.routing.choose_every", "network.routing.queue_pairs"};
  for (const std::string_view field : kOfTrees) warn(field);
  if (scenario.faults.links.has_curse()) return;  // which is felt with some engines only
  warn("network.routing.engine");
  warn("faults.links.routing");
}

// What faults of links and the network say about one another.
void check_network(const Scenario& scenario, Checker& c) {
  const LinkFaultParams& links = scenario.faults.links;
  if (scenario.network.routing.choose_every && !is_ever_adaptive(scenario)) {
    c.idle("network.routing.choose_every", "has an effect only with an adaptive engine");
  }
  if (c.is_given("network.routing.queue_pairs") && !is_ever(tells_flows_apart, scenario)) {
    c.idle("network.routing.queue_pairs",
           "has an effect only with engines that tell flows apart: ecmp and the adaptive ones");
  }
  check_leaves(scenario, c);
  const bool is_empty = links.list.empty() && links.random.empty() && links.routing.empty();
  if (!is_empty && scenario.network.level != NetworkLevel::Flow) {
    c.idle("faults.links", "has an effect only with network.level: flow");
    return;
  }
  if (c.is_given("network.links.retry_timeout") && !is_any_link_ever(is_down, links)) {
    c.warning("network.links.retry_timeout",
              "has an effect only when links are down: with faults.links of kind dead or flap");
  }
  // Of links that are down it tells when to give up, unless retry_timeout does.
  const bool heeds_ib_timeout =
      is_any_link_ever(damages_packets, links) ||
      (is_any_link_ever(is_down, links) && !scenario.network.links.retry_timeout);
  if (c.is_given("network.links.ib_timeout") && !heeds_ib_timeout) {
    c.warning("network.links.ib_timeout",
              "has an effect only on damaged packets (faults.links of kind degraded) and, without "
              "retry_timeout, on links that are down (dead or flap)");
  }
  if (c.is_given("network.links.ack_timeout") && !is_any_link_ever(damages_packets, links)) {
    c.warning("network.links.ack_timeout",
              "has an effect only on damaged packets: with faults.links of kind degraded");
  }
  check_routing_changes(scenario, c);
  const bool may_be_cursed = is_ever_adaptive(scenario);
  const auto check_curse = [&](const LinkFlaw& flaw, const std::string& field) {
    if (kind_of(flaw) != LinkFlawKind::Cursed || may_be_cursed) return;
    c.idle(field, "a curse has no effect: network.routing.engine is not adaptive, nor becomes so");
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
