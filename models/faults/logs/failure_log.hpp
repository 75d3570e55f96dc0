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
  Time start;  // relative to the start of the run
  Duration length = kUnknown;
  uint32_t node = 0;   // index into FailureLog::nodes
  uint32_t cause = 0;  // index into FailureLog::causes
};

// A failure log in memory. The file is read as a whole because its rows need not be sorted by time.
// Each outage takes 24 bytes.
struct FailureLog {
  static constexpr size_t kOutagesMax = 20'000'000;
  static constexpr size_t kNodesMax = 1'000'000;

  FailureLogFormat format = FailureLogFormat::Auto;
  std::vector<Outage> outages;     // sorted by start, then by node
  std::vector<std::string> nodes;  // sorted by name, with digits as numbers: n2 before n10
  std::vector<std::string> causes;
  // Duration of the replay. The replay ends at the last instant in the log or at the window's end,
  // whichever is earlier.
  Duration span;
  int64_t rows = 0;
  // Numbers of dropped outages: those outside the window, and those with a cause that is not
  // selected in params.causes.
  int64_t outside_window = 0;
  int64_t other_causes = 0;
  std::vector<TraceNote> notes;
  std::vector<std::string> skipped_examples;
  // The first error, e.g. `file:row:column (name): ...`. If there is an error, the other fields are
  // invalid.
  std::string error;
};

FailureLog read_failure_log(const FailureLogParams& params);
// Reads a log from memory. Messages show params.file as its file name.
FailureLog read_failure_log_text(const FailureLogParams& params, std::string_view text);
// The format that the first lines of the file show. Auto if the file is unreadable or not a failure
// log.
FailureLogFormat detect_failure_log(const std::string& path);

}  // namespace orrery
