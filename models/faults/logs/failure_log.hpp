// models/faults/logs/failure_log.hpp -- recorded outages of nodes and their causes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/faults/logs/failure_log_params.hpp"
#include "models/workload/traces/io/findings.hpp"
#include "sim/core/time.hpp"

namespace orrery {

struct Outage {
  static constexpr Duration kUnknown{-1};
  Time start;  // from the start of the run
  Duration length = kUnknown;
  uint32_t node = 0;   // index into FailureLog::nodes
  uint32_t cause = 0;  // index into FailureLog::causes
};

// Read as a whole, because logs are not sorted by time; 24 bytes an outage.
struct FailureLog {
  static constexpr size_t kOutagesMax = 20'000'000;
  static constexpr size_t kNodesMax = 1'000'000;

  FailureLogFormat format = FailureLogFormat::Auto;
  std::vector<Outage> outages;     // by start, then by node
  std::vector<std::string> nodes;  // by name, with digits as numbers: n2 before n10
  std::vector<std::string> causes;
  Duration span;  // from the start of the run to the last instant in the log
  int64_t rows = 0;
  // Outages that were dropped: those outside the window, and those of other causes than requested.
  int64_t outside_window = 0;
  int64_t other_causes = 0;
  std::vector<TraceNote> notes;
  std::vector<std::string> skipped_examples;
  std::string error;  // `file:row:column (name): ...`; the other fields are then invalid
};

FailureLog read_failure_log(const FailureLogParams& params);
// Reads text in memory, called params.file in messages.
FailureLog read_failure_log_text(const FailureLogParams& params, std::string_view text);
// The format that the first lines of the file show. Auto: the file is unreadable or no failure log.
FailureLogFormat detect_failure_log(const std::string& path);

}  // namespace orrery
