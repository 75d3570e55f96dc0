#include "models/faults/fault_params.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace orrery {
namespace {

SelectorTerm as_term(const std::map<std::string, std::string>& node_selector) {
  SelectorTerm term;
  for (const auto& [key, value] : node_selector) {
    term.all_of.push_back({.key = key, .op = SelectorOperator::In, .values = {value}});
  }
  return term;
}

// The YAML node whose position is shown in messages about faults.LIST[index].FIELD: the field; if
// the document lacks the field, the entry of the list; if it lacks the entry, the section.
const config::Node& written(const config::Node& section, std::string_view list, size_t index,
                            std::string_view field) {
  const config::Node& entries = section[list];
  if (!entries.is_sequence() || index >= entries.items.size()) return section;
  const config::Node* const value = entries.items[index].find(field);
  return value != nullptr ? *value : entries.items[index];
}

std::string path_of(std::string_view list, size_t index, std::string_view field) {
  std::string path{"faults."};
  path.append(list).append("[").append(std::to_string(index)).append("].").append(field);
  return path;
}

}  // namespace

Duration LognormalRepair::draw(Rng& rng) const {
  return std::min(max, nearest_ns(rng.lognormal(std::log(median.seconds()), sigma)));
}

Duration ExponentialRepair::draw(Rng& rng) const { return std::min(max, rng.exponential(mean)); }

// Weibull: the mean is scale * Gamma(1 + 1 / shape), which must be 1000 d / rate. Example: with a
// rate of 2 failures in 1000 d and shape 1, the scale is 500 d.
Duration NodeFailureParams::draw_time_to_failure(Rng& rng) const {
  const double mean_s = Duration{1000_d}.seconds() / rate;
  const double drawn_s =
      distribution == FailureDistribution::Exponential
          ? mean_s * rng.exponential()
          : rng.weibull(weibull_shape, mean_s / std::tgamma(1 + 1 / weibull_shape));
  return std::max(1_ns, nearest_ns(drawn_s));
}

NodeId find_node(const ClusterState& cluster, std::string_view name_or_index) {
  for (uint32_t i = 0; i < cluster.nodes(); ++i) {
    if (cluster.name({i}) == name_or_index) return {i};
  }
  uint32_t index = 0;
  const char* const last = name_or_index.data() + name_or_index.size();
  const auto [end, error] = std::from_chars(name_or_index.data(), last, index);
  if (error != std::errc{} || end != last || index >= cluster.nodes()) return {};
  return {index};
}

NodeSet selected_nodes(const ClusterState& cluster,
                       const std::map<std::string, std::string>& node_selector) {
  if (node_selector.empty()) return NodeSet::all(cluster.nodes());
  return cluster.matching(as_term(node_selector));
}

void FaultParams::check(const ClusterState& cluster, const config::Node& section,
                        Diagnostics& diagnostics) const {
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!selected_nodes(cluster, nodes[i].node_selector).empty()) continue;
    diagnostics.error(written(section, "nodes", i, "node_selector").position,
                      path_of("nodes", i, "node_selector"),
                      "no node of the cluster has these labels");
  }
  for (size_t i = 0; i < logs.size(); ++i) {
    if (!selected_nodes(cluster, logs[i].node_selector).empty()) continue;
    diagnostics.error(written(section, "logs", i, "node_selector").position,
                      path_of("logs", i, "node_selector"),
                      "no node of the cluster has these labels");
  }
  std::vector<std::string> names;
  for (size_t i = 0; i < list.size(); ++i) {
    if (find_node(cluster, list[i].node).is_valid()) continue;
    if (names.empty() && !diagnostics.full()) {
      for (uint32_t n = 0; n < cluster.nodes(); ++n) names.emplace_back(cluster.name({n}));
    }
    std::string message = "the cluster has no node " + in_quotes(list[i].node);
    message += diagnostics.full() ? "" : did_you_mean(list[i].node, names);
    diagnostics.error(written(section, "list", i, "node").position, path_of("list", i, "node"),
                      std::move(message));
  }
}

}  // namespace orrery
