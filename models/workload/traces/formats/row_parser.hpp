// models/workload/traces/formats/row_parser.hpp -- the rows of one trace format, as jobs.
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

// Times as the trace counts them: from its own zero, or from 1970 where it has dates.
struct TraceRow {
  TraceJob job;  // job.submit included
  // When its cluster started it, or, of one that never started, its user cancelled it; job.submit
  // where that is not recorded.
  Time start;
  // A literal that says why the job has no duration; empty: it has one, or the format has none.
  std::string_view lacks_duration = {};
};

// Streams rows in the order of the file; what is no job goes to the findings.
class RowParser {
 public:
  using Fact = std::pair<std::string, std::string>;

  virtual ~RowParser() = default;
  // Valid until the next call; null at the end of the file, or when the findings are stopped.
  virtual const TraceRow* next() = 0;
  // ":column (name)" of the field that a job's arrival comes from; empty in layouts without
  // columns.
  virtual std::string arrival_place(TraceArrival) const { return {}; }
  // What the file says of itself, such as the size of its machine.
  virtual std::span<const Fact> facts() const { return {}; }
  // Of a table with names for its columns; what has been met so far.
  virtual TraceColumnUse columns() const { return {}; }
  // Other files it read, as they were opened.
  virtual std::vector<std::string> side_files() const { return {}; }
};

// What a parser is made from. All of it outlives the parser, which takes the source.
struct ParserInput {
  TextSource source;
  Findings& findings;
  StringPool& pool;
  const TraceParams& params;
};

}  // namespace orrery::traces
