// models/workload/traces/formats/row_parser.hpp -- parses the rows of one trace format as jobs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/workload/traces/formats/trace_job.hpp"
#include "models/workload/traces/formats/trace_params.hpp"
#include "models/workload/traces/io/findings.hpp"
#include "models/workload/traces/io/string_pool.hpp"
#include "models/workload/traces/io/text_source.hpp"

namespace orrery::traces {

// Times are on the trace's clock: from its own zero, or from 1970 if the trace has dates.
struct TraceRow {
  TraceJob job;  // job.submit, too, is on the trace's clock
  // When the cluster started the job or, if the job never started, when its user cancelled it.
  // Equal to job.submit if neither time was recorded.
  Time start;
  // Why the job has no duration: a string literal. Empty if the job has a duration, or if the
  // format records no durations.
  std::string_view lacks_duration = {};
};

// Streams rows in the order of the file. Rows that are no jobs are reported to the findings.
class RowParser {
 public:
  using Fact = std::pair<std::string, std::string>;

  virtual ~RowParser() = default;
  // The next job, valid until the next call; null at the end of the file, or after
  // Findings::stop().
  virtual const TraceRow* next() = 0;
  // ":column (name)" of the field with a job's arrival; empty in layouts without columns.
  virtual std::string arrival_place(TraceArrival) const { return {}; }
  // Facts stated in the file, such as the size of the recorded machine.
  virtual std::span<const Fact> facts() const { return {}; }
  // For a table with named columns: which columns were read so far, and which were not.
  virtual TraceColumnUse columns() const { return {}; }
  // Other files that the parser read, in the order of opening.
  virtual std::vector<std::string> side_files() const { return {}; }
};

// Inputs of a parser. The parser owns `source`; the other objects must outlive the parser.
struct ParserInput {
  TextSource source;
  Findings& findings;
  StringPool& pool;
  const TraceParams& params;
};

}  // namespace orrery::traces
