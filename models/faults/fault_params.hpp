// models/faults/fault_params.hpp -- the section `faults` of a scenario, and look-up of the nodes
// that the section names.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "models/facts/fact.hpp"
#include "models/faults/link_fault_params.hpp"
#include "models/faults/logs/failure_log_params.hpp"
#include "models/faults/node_killer.hpp"
#include "models/faults/rank_fault_params.hpp"
#include "models/faults/repair.hpp"
#include "models/hardware/cluster_state.hpp"
#include "sim/config/diagnostics.hpp"
#include "sim/config/node.hpp"
#include "sim/config/options.hpp"
#include "sim/core/rng.hpp"
#include "sim/core/time.hpp"

namespace orrery {

enum class FailureDistribution : uint8_t { Exponential, Weibull };
constexpr std::array<std::string_view, 2> enum_names(FailureDistribution) {
  return {"exponential", "weibull"};
}

// One kind of random failure. It strikes each selected node independently of the other nodes.
struct NodeFailureParams {
  static constexpr std::string_view kDoc = "A kind of failure that strikes nodes at random.";

  std::string name = "node";
  double rate = 6.5;
  FailureDistribution distribution = FailureDistribution::Exponential;
  double weibull_shape = 1.0;
  RepairDistribution repair = {};
  std::map<std::string, std::string> node_selector = {};

  template <class V>
  void fields(V& v) {
    v("name", name, "Name of this kind of failure in /events/faults.");
    v("rate", rate,
      "Failures per 1,000 node-days. Repairs after these failures do not count as node-days: the "
      "mean time from the end of a repair to the node's next failure is 1000 d / rate. "
      "Published rates: 6.50 for Meta RSC-1, 2.34 for Meta RSC-2, 3.79 for Llama-3 405B.",
      Range{0.0, 1e6}, Unit{"failures per 1,000 node-days"},
      Source{"Meta RSC-1, 16k A100, 11 months"});
    v("distribution", distribution, "Distribution of the time from a repair to the next failure.");
    v("weibull_shape", weibull_shape,
      "Below 1: the failure rate is highest right after a repair and then falls; above 1: it rises "
      "with the time since the repair, as with wear. At the start of the run, every node counts as "
      "just repaired.",
      Range{0.1, 20.0},
      Source{"a shape of 1 is the exponential distribution; published shapes: 2.65 for Titan's "
             "GPUs, and 1.37 for a later batch of these GPUs"},
      Heeded{distribution == FailureDistribution::Weibull, "distribution is not weibull"});
    v("repair", repair, "How long a node stays down.");
    v("node_selector", node_selector, "Labels of the affected nodes; absent: all nodes.",
      Example{"{nvidia.com/gpu.product: H100}"});
  }
  template <class C>
  void check(C& c) const {
    if (name.empty()) c.error("name", "must not be empty");
    if (rate == 0) c.warning("rate", "this kind of failure never strikes");
  }
  // Draws the time from the start of the run, or from a repair, to the next failure. It is at least
  // 1 ns. `rate` must not be 0.
  Duration draw_time_to_failure(Rng& rng) const;
  Duration draw_repair(Rng& rng) const {
    return std::visit([&](const auto& d) { return d.draw(rng); }, repair);
  }
};

struct ListedFaultParams {
  static constexpr std::string_view kDoc = "A node that goes down at a given time.";

  std::string node = {};
  Duration at = {};
  Duration repair = {};

  template <class V>
  void fields(V& v) {
    v("node", node, "Name of the node, or its index from 0.", Required{}, Example{"node-17"});
    v("at", at, "Time of the failure, from the start of the run.", Required{}, IsInstant{});
    v("repair", repair, "How long the node stays down.", Required{});
  }
  template <class C>
  void check(C& c) const {
    if (repair == Duration{}) c.warning("repair", kRepairAtOnce);
  }
};

struct FaultParams {
  static constexpr std::string_view kDoc = "What fails.";

  std::vector<NodeFailureParams> nodes = {};
  std::vector<ListedFaultParams> list = {};
  std::vector<FailureLogParams> logs = {};
  std::optional<NodeKillerParams> chaos = {};
  std::vector<RankFaultParams> ranks = {};
  LinkFaultParams links = {};

  template <class V>
  void fields(V& v) {
    v("nodes", nodes, "Kinds of random failures; they strike independently of one another.");
    v("list", list, "Failures at given times.");
    v("logs", logs, "Failures that were recorded on real clusters.");
    v("chaos", chaos,
      "Rounds in which nodes are taken down, as in a chaos test; absent: no rounds.");
    v("ranks", ranks, "Deaths of single processes of gangs. Their nodes stay up.");
    v("links", links, "Faults of cables and switches.", Heeded{Fact::Links},
      Heeded{Fact::CrossingExchanges});
  }
  template <class C>
  void check(C& c) const {
    std::set<std::string_view> seen;
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (seen.insert(nodes[i].name).second) continue;
      std::string text = "two kinds of failure are called " + in_quotes(nodes[i].name);
      c.error("nodes[" + std::to_string(i) + "].name",
              text + ": /events/faults could not tell them apart");
    }
  }
  bool strike_nodes() const { return chaos || !nodes.empty() || !list.empty() || !logs.empty(); }
  // Reports nodes in `list` that the cluster does not have, and selectors that match no node.
  // `section` is the document's section `faults`, for positions in messages; it may be a YAML null.
  void check(const ClusterState& cluster, const config::Node& section,
             Diagnostics& diagnostics) const;
};

// The node of this name, else the node of this index, else an invalid id.
NodeId find_node(const ClusterState& cluster, std::string_view name_or_index);
NodeSet selected_nodes(const ClusterState& cluster,
                       const std::map<std::string, std::string>& node_selector);

}  // namespace orrery
