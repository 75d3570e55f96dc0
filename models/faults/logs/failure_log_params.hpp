// models/faults/logs/failure_log_params.hpp -- which failure log to replay, and on which nodes.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "models/faults/repair.hpp"
#include "sim/config/options.hpp"

namespace orrery {

// Auto: the first lines of the file show the format.
enum class FailureLogFormat : uint8_t { Auto, Titan, Fta, Lanl };
constexpr std::array<std::string_view, 4> enum_names(FailureLogFormat) {
  return {"auto", "titan", "fta", "lanl"};
}

// How nodes of the log map to nodes of the cluster. Ordered: node by node, with the log's nodes
// sorted by name, so neighbours stay neighbours. Shuffled: in an order drawn at random.
enum class LogNodes : uint8_t { Ordered, Shuffled };
constexpr std::array<std::string_view, 2> enum_names(LogNodes) { return {"ordered", "shuffled"}; }

struct FailureLogParams {
  static constexpr std::string_view kDoc = "Replays failures recorded on a real cluster.";

  std::string file = {};
  FailureLogFormat format = FailureLogFormat::Auto;
  std::string system = {};
  std::vector<std::string> causes = {};
  std::string window_start = {};
  std::string window_end = {};
  RepairDistribution repair = {};
  LogNodes nodes = LogNodes::Ordered;
  bool repeat = false;
  std::map<std::string, std::string> node_selector = {};
  bool lenient = false;

  template <class V>
  void fields(V& v) {
    v("file", file, "The log, plain, gzip or xz.", Required{},
      Example{"../shared/traces/failures-titan-gpu/gc_full.csv.gz"});
    v("format", format,
      "titan: lifetimes of Titan's GPUs, one GPU per node; fta: event_trace.tab of the Failure "
      "Trace Archive; lanl: failures of Los Alamos' systems; auto: the first lines decide.");
    v("system", system,
      "Only for lanl: the system to replay, such as '20'; empty: all systems, each with nodes of "
      "its own. Rows that name no node, for example those of system 17, are left out and counted.");
    v("causes", causes,
      "Replay only failures with these causes; empty: failures with any cause. A titan log has the "
      "causes DBE and OTB; fta has unavailable; lanl has facilities, hardware, human_error, "
      "network, undetermined, software and unknown.",
      Example{"[hardware]"});
    v("window_start", window_start,
      "Date, with an optional time, at which the replay begins. Nodes that were down at that time "
      "are down at the start of the run. Empty: the first day of the log.",
      Example{"2014-06-01"});
    v("window_end", window_end,
      "Failures from this time on are left out. Empty: no failures are left out.");
    v("repair", repair,
      "How long nodes stay down if the log does not say. titan logs never say: they record only "
      "the loss of a GPU.");
    v("nodes", nodes,
      "ordered: the nodes of the log, sorted by name, are mapped to the cluster's nodes, sorted by "
      "index. shuffled: they are mapped to the cluster's nodes in a random order, "
      "which the run's seed determines. If the log has more nodes than the cluster, the last nodes "
      "of the log are left out.");
    v("repeat", repeat,
      "Has an effect only if the cluster has more nodes than the log. true: nodes of the log are "
      "used again, from the first on. Example: with 10 nodes in the log, nodes 2 and 12 of the "
      "cluster fail together. false: the remaining nodes of the cluster never fail from this log.");
    v("node_selector", node_selector,
      "Labels of the nodes on which the log is replayed; absent: all nodes.",
      Example{"{nvidia.com/gpu.product: H100}"});
    v("lenient", lenient,
      "true: malformed rows are skipped, and their number is reported. false: the first malformed "
      "row ends the run.");
  }
};

}  // namespace orrery
