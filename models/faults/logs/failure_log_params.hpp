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
      "Trace Archive; lanl: failures of Los Alamos' systems; auto goes by the first lines.");
    v("system", system,
      "lanl: replay only this system, as in '20'; empty: all, side by side. Rows without a node, "
      "like those of system 17, are left out and counted.");
    v("causes", causes,
      "Replay only failures with these causes; empty: all. titan: DBE, OTB; fta: unavailable; "
      "lanl: facilities, hardware, human_error, network, undetermined, software, unknown.",
      Example{"[hardware]"});
    v("window_start", window_start,
      "Date, with an optional time, at which the replay begins; nodes that were down then begin "
      "down. Empty: the first day of the log.",
      Example{"2014-06-01"});
    v("window_end", window_end, "Failures from this time on are left out. Empty: none.");
    v("repair", repair,
      "How long nodes stay down if the log does not say. titan logs never say: they record only "
      "that a GPU was lost.");
    v("nodes", nodes,
      "ordered: the first node of the log, by name, is the cluster's first, and so on; shuffled: "
      "in an order drawn from the seed. Nodes of the log beyond the cluster's are left out.");
    v("repeat", repeat,
      "A cluster with more nodes than the log reuses the log's nodes from the first, at the same "
      "times; false: nodes beyond the log's never fail from it.");
    v("node_selector", node_selector,
      "Labels of the nodes on which it is replayed; absent: all nodes.",
      Example{"{nvidia.com/gpu.product: H100}"});
    v("lenient", lenient,
      "Skip malformed rows and report how many there were; otherwise the first one ends the run.");
  }
};

}  // namespace orrery
