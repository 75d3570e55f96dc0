// models/workload/traces/format.hpp -- what the readers must know of each trace format.
#pragma once

#include <span>
#include <string_view>

#include "models/workload/traces/csv.hpp"
#include "models/workload/traces/string_pool.hpp"
#include "models/workload/traces/trace_job.hpp"
#include "models/workload/traces/trace_params.hpp"

namespace orrery::traces {

// Times as the trace counts them: from its own zero, or from 1970 where it has dates.
struct TraceRow {
  TraceJob job;  // job.submit included
  Time start;    // when its cluster started it; job.submit where that is not recorded
};

struct Format {
  TraceFormat id;
  std::span<const std::string_view> columns;
  TraceRow (*parse)(CsvReader& row, StringPool& pool);
  size_t submit_column, start_column;  // where starts are not recorded, the same
  bool has_queues;
  bool has_starts;
  bool has_dates;
  bool has_comments;
  bool is_unsorted;
  bool has_pending;
  // Lists only jobs that ended after recording began, although some were submitted long before: a
  // warm-started replay begins at the first end.
  bool lists_survivors;
};

extern const Format kOpenbFormat;
extern const Format kHeliosFormat;
extern const Format kHeliosDerivedFormat;
extern const Format kHeliosCanonicalFormat;

// Shared by the parsers.
std::string_view interned(CsvReader& row, size_t column, StringPool& pool);
// Names the job and takes its number from the name, up to a '#'.
void identify(CsvReader& row, size_t column, TraceJob& job);
// Spreads `gpus` over `pods`: as evenly as whole GPUs go, the last pod taking what is left, but at
// least one. So 12 on 2 are 6 + 6, 9 on 2 are 5 + 4, and 7 on 5 are 2 + 2 + 2 + 2 + 1, which is 2
// more than recorded: pods are alike.
void spread_gpus(CsvReader& row, size_t column, int64_t gpus, int64_t pods, TraceJob& job);

}  // namespace orrery::traces
