// models/workload/traces/tables/series.hpp -- summaries of tables that come with traces:
// measurements, lists of nodes, and the jobs and groups of PAI.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/workload/traces/trace_reader.hpp"
#include "models/workload/traces/trace_statistics.hpp"

namespace orrery {

// A GenAi row has a time and a value of one container or of all containers. PaiSensors to PaiGroups
// are tables of the PAI log of 2020, without headers. OpenbNodes and SpotNodes are lists of nodes.
enum class SeriesFormat : uint8_t {
  Auto,
  GenAi,
  PaiSensors,
  PaiMachineMetrics,
  PaiMachines,
  PaiJobs,
  PaiGroups,
  OpenbNodes,
  SpotNodes
};
constexpr std::array<std::string_view, 9> enum_names(SeriesFormat) {
  return {"auto",     "genai_series", "pai_sensors", "pai_machine_metrics", "pai_machines",
          "pai_jobs", "pai_groups",   "openb_nodes", "spot_nodes"};
}

struct SeriesReport {
  struct Names {
    std::string column;
    int64_t different = 0;
    bool is_exact = true;
  };
  struct Values {
    std::string column;
    TraceStatistics::Distribution distribution;
  };
  SeriesFormat format = SeriesFormat::Auto;  // Auto: the file was not recognised
  int64_t rows = 0;                          // all rows, skipped ones included
  int64_t skipped = 0;
  std::optional<double> first, last;  // seconds on the table's clock
  std::vector<Names> names;
  // One entry for each numeric column; empty fields of the column do not count. For GenAi, one more
  // entry for the gaps between rows.
  std::vector<Values> values;
  // Whether a column has more than 100,000 different values. The quantiles of such a column are
  // accurate only to 0.2 %.
  bool is_rounded = false;
  std::vector<TraceNote> notes;
  std::vector<std::string> errors, skipped_examples;
};

struct SeriesParams {
  std::string file{};
  SeriesFormat format = SeriesFormat::Auto;
  bool lenient = false;
};

// Detects the format of a file from its first line. Returns Auto if no format matches.
SeriesFormat detect_series(const std::string& file);
// Reads a table in one pass and bounded memory.
SeriesReport read_series(const SeriesParams& params);
SeriesReport read_series_text(const SeriesParams& params, std::string_view text);

}  // namespace orrery
