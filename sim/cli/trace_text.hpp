// sim/cli/trace_text.hpp -- texts of `orrery trace info`.
#pragma once

#include <string>

#include "models/faults/logs/failure_log.hpp"
#include "models/workload/traces/requests/request_reader.hpp"
#include "models/workload/traces/tables/series.hpp"
#include "models/workload/traces/trace_reader.hpp"
#include "models/workload/traces/trace_statistics.hpp"

namespace orrery {

// The format of the file, whether it was guessed, and which columns were read.
std::string layout_text(const TraceReader& reader, bool is_guessed);
// The statistics as text. Durations are included only if `has_durations`.
std::string trace_text(const TraceReader& reader, const TraceStatistics& statistics,
                       bool has_durations, bool is_guessed);
// For formats with Format::lists_survivors: the time at which a warm-started replay begins, and the
// number of jobs under way at that time. `statistics` are of the trace as recorded.
std::string survivors_text(const TraceStatistics& statistics);
// Statistics of all requests of the reader. Stores 24 to 40 bytes for each request: three to five
// numbers.
std::string request_text(RequestReader& reader);
std::string failure_text(const FailureLog& log);
std::string series_text(const SeriesReport& series);
// One line for each note: how many rows were skipped, left out or odd, and why. Empty without
// notes.
std::string notes_text(const std::vector<TraceNote>& notes);

}  // namespace orrery
