// models/workload/traces/trace_reader.hpp -- jobs out of a trace file, in the order of submission.
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

// When a file has been read to its end, every row of it is counted once, and no row of the files
// beside it: rows = joined + skipped + left out + filtered + delivered / copies.
struct TraceCounts {
  int64_t rows = 0;       // read, whatever became of them
  int64_t joined = 0;     // of them, those that only say more of a job of another row
  int64_t delivered = 0;  // jobs handed out
  int64_t outside_window = 0;
  int64_t other_queue = 0;
  int64_t without_gpus = 0;
  int64_t never_started = 0;
  int64_t other_size = 0;
  int64_t other_status = 0;
  int64_t warm_started = 0;  // of those delivered: submitted before the window
  int64_t left_out = 0;      // well-formed rows that are no jobs by the rules of the format
  int64_t skipped = 0;       // malformed rows, where the user asked for lenience

  int64_t filtered() const {
    return outside_window + other_queue + without_gpus + never_started + other_size + other_status;
  }
};

// Streams: memory is bounded, by the reorder window or the sorter of a whole file, and by the jobs
// alive at once where a job is spread over rows; not by the file. But the tables beside a PAI trace
// are held whole: 105 bytes for each row of the job table, 75 for each of the others. Never throws:
// a reader that could not open its file, or met a wrong row, ends early and has an error.
class TraceReader {
 public:
  virtual ~TraceReader() = default;
  // Valid until the next call; null at the end and after an error.
  virtual const TraceJob* next() = 0;
  virtual const std::vector<std::string>& errors() const = 0;
  virtual TraceCounts counts() const = 0;
  // Rows skipped and left out with why, then oddities of jobs that were kept; nothing else is lost.
  virtual std::vector<TraceNote> notes() const = 0;
  // The first malformed rows that were skipped, as errors would have told them.
  virtual const std::vector<std::string>& skipped_examples() const = 0;
  // What the file says of itself, such as the size of its machine.
  virtual std::vector<std::pair<std::string, std::string>> facts() const = 0;
  // The other files that the jobs were made from, as they were opened.
  virtual std::vector<std::string> side_files() const = 0;
  virtual TraceFormat format() const = 0;  // Auto when the header was not recognised
  // Of a table whose columns have names; met so far.
  virtual TraceColumnUse columns() const = 0;

  // `file:row:column (name): found '...', expected ...`
  std::optional<std::string> error() const {
    return errors().empty() ? std::nullopt : std::optional{errors().front()};
  }
};

// Never null. Stops at the first mistake, unless params.lenient.
std::unique_ptr<TraceReader> open_trace(const TraceParams& params);
// The same for text in memory, plain or gzip, called params.file in messages; it must outlive the
// reader.
std::unique_ptr<TraceReader> open_trace_text(const TraceParams& params, std::string_view text);

struct TraceReport {
  TraceFormat format = TraceFormat::Auto;
  TraceCounts counts;
  std::vector<std::string> errors;  // at most kErrorsMax
  static constexpr size_t kErrorsMax = 20;
};
// Reads the whole file, passing over wrong rows, to show many mistakes at once.
TraceReport validate_trace(const TraceParams& params);

}  // namespace orrery
