// models/workload/traces/trace_reader.hpp -- jobs of a trace file, in the order of submission.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/workload/traces/formats/trace_job.hpp"
#include "models/workload/traces/formats/trace_params.hpp"
#include "models/workload/traces/io/findings.hpp"

namespace orrery {

// At the end of a file, each of its rows is counted once: rows = joined + skipped + left_out +
// filtered() + (delivered / copies), where `copies` is the parameter of the trace. Rows of side
// files are not counted; see side_files().
struct TraceCounts {
  int64_t rows = 0;    // rows read, whatever became of them
  int64_t joined = 0;  // rows that only add to a job of another row
  int64_t delivered = 0;
  int64_t outside_window = 0;
  int64_t other_queue = 0;
  int64_t without_gpus = 0;
  int64_t never_started = 0;
  int64_t other_size = 0;
  int64_t other_status = 0;
  int64_t warm_started = 0;  // jobs moved to window_start; copies are not counted
  int64_t left_out = 0;      // well-formed rows that are no jobs by the format's rules
  int64_t skipped = 0;       // malformed rows, skipped because of `lenient`

  int64_t filtered() const {
    return outside_window + other_queue + without_gpus + never_started + other_size + other_status;
  }
};

// The trace is streamed, so memory does not grow with the file. The reorder window or the sorter
// bounds the memory. If jobs have several rows, memory grows with the number of jobs alive at once.
// Only the tables beside a PAI trace are held in memory whole: 105 bytes for each row of the job
// table, 75 bytes for each row of the other tables. A reader never throws. If the file cannot be
// opened, or a row is malformed and `lenient` is false, the reader ends early and has an error.
class TraceReader {
 public:
  virtual ~TraceReader() = default;
  // The next job, valid until the next call; null at the end and after an error.
  virtual const TraceJob* next() = 0;
  virtual const std::vector<std::string>& errors() const = 0;
  virtual TraceCounts counts() const = 0;
  // Returns notes in this order: rows that were skipped or left out, with the reason; oddities of
  // jobs that were kept; skipped rows of other tables. Jobs that the filters removed have no notes:
  // see TraceCounts::filtered().
  virtual std::vector<TraceNote> notes() const = 0;
  // Messages about the first malformed rows that were skipped.
  virtual const std::vector<std::string>& skipped_examples() const = 0;
  // Facts stated in the file, such as the size of the recorded machine.
  virtual std::vector<std::pair<std::string, std::string>> facts() const = 0;
  // Files that were read besides the trace file, in the order of opening.
  virtual std::vector<std::string> side_files() const = 0;
  virtual TraceFormat format() const = 0;  // Auto if the header was not recognised
  // For a table with named columns: which columns were read so far, and which were not.
  virtual TraceColumnUse columns() const = 0;

  // The first error, as `file:row:column (name): found '...', expected ...`.
  std::optional<std::string> error() const {
    return errors().empty() ? std::nullopt : std::optional{errors().front()};
  }
};

// Never returns null. Without params.lenient, the reader stops at the first mistake.
std::unique_ptr<TraceReader> open_trace(const TraceParams& params);
// Reads text in memory: plain, gzip or xz. The text is called params.file in messages, and must
// outlive the reader.
std::unique_ptr<TraceReader> open_trace_text(const TraceParams& params, std::string_view text);

struct TraceReport {
  TraceFormat format = TraceFormat::Auto;
  TraceCounts counts;
  std::vector<std::string> errors;  // at most kErrorsMax
  static constexpr size_t kErrorsMax = 20;
};
// Reads the whole file, but stops after kErrorsMax malformed rows.
TraceReport validate_trace(const TraceParams& params);

}  // namespace orrery
