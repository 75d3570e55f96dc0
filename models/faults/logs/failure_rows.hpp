// models/faults/logs/failure_rows.hpp -- rows of failure logs, and readers of the three formats.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "models/faults/logs/failure_log_params.hpp"
#include "models/workload/traces/io/findings.hpp"
#include "models/workload/traces/io/text_source.hpp"
#include "sim/core/time.hpp"

namespace orrery::faults {

constexpr Duration kUnknownLength{-1};

// Times are since 1970, in the local time of the log.
struct FailureRow {
  Time seen;              // earliest instant in the row
  bool is_outage = true;  // false: the row only shows that the node existed
  Time start;             // start of the outage
  Duration length = kUnknownLength;
  std::string_view node;   // valid until the next row
  std::string_view cause;  // a string literal, which stays valid
  // Only in lanl logs: the node's system, which has the nodes 0 .. system_nodes - 1, including
  // those that never failed. If the row gives no number of nodes, system_nodes is 0.
  std::string_view system;
  int64_t system_nodes = 0;
};

class FailureRows {
 public:
  virtual ~FailureRows() = default;
  // The next row, valid until the next call. Null at the end of the file or once `findings` is
  // stopped.
  virtual const FailureRow* next() = 0;
};

constexpr size_t kNodeNameMax = 48;

std::unique_ptr<FailureRows> open_titan(traces::TextSource source, traces::Findings& findings);
std::unique_ptr<FailureRows> open_fta(traces::TextSource source, traces::Findings& findings);
// Yields only the rows of `system`; if `system` is empty, all rows.
std::unique_ptr<FailureRows> open_lanl(traces::TextSource source, traces::Findings& findings,
                                       std::string system);

}  // namespace orrery::faults
