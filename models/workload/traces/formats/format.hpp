// models/workload/traces/formats/format.hpp -- properties of each trace format; functions that
// parsers share.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "models/workload/traces/formats/row_parser.hpp"
#include "models/workload/traces/io/csv.hpp"

namespace orrery::traces {

// Which rows record a duration. A job without a recorded duration gets params.default_duration.
enum class Durations : uint8_t { InEveryRow, InMostRows, InNoRow };

// A simple table with a header sets `columns` and `parse`; `parse` parses one row. Any other format
// sets `open` and `likeness`; `open` makes the format's own parser, and `likeness` recognises the
// first lines.
struct Format {
  TraceFormat id = TraceFormat::Auto;
  std::span<const std::string_view> columns = {};
  TraceRow (*parse)(CsvReader& row, StringPool& pool) = nullptr;
  size_t submit_column = 0, start_column = 0;  // equal if starts are not recorded
  std::unique_ptr<RowParser> (*open)(ParserInput input) = nullptr;
  // How well the beginning of a file matches the format: from 0 to 1, or 2 if the file begins with
  // the magic number of the native format.
  double (*likeness)(std::string_view beginning) = nullptr;
  Durations durations = Durations::InEveryRow;
  bool has_queues = false;
  bool has_groups = false;
  bool has_statuses = false;  // rows have the outcome of jobs
  bool has_gpus = true;
  bool has_processors = false;  // requested and allocated processors: SWF
  bool has_steps = false;       // rows have steps in place of durations: Gavel
  bool has_starts = false;
  bool has_sensors = false;  // measured use may be in another file: PAI
  bool has_nodes = false;    // rows have the nodes of jobs
  bool has_dates = false;
  // Times are seconds from the trace's own zero, seconds from 1970 or dates, depending on the file.
  // In the last two cases the run starts at 0:00 of the first job's day, or at window_start if set.
  bool may_count_from_1970 = false;
  bool has_comments = false;
  bool is_unsorted = false;
  bool has_pending = false;
  // The trace lists only jobs that ended after the recording began; some of them were submitted
  // long before. Without window_start, a warm-started replay begins at the earliest end of a job.
  bool lists_survivors = false;
  bool has_own_columns = false;  // the names of columns are given in params.columns
  bool has_gpu_types = false;    // GPU types have names chosen by the site: sacct
};

namespace openb {
extern const Format kFormat;
extern const Format kUntimedFormat;
}  // namespace openb
namespace helios {
extern const Format kFormat;
extern const Format kDerivedFormat;
extern const Format kCanonicalFormat;
}  // namespace helios
namespace swf {
extern const Format kFormat;
}
namespace philly {
extern const Format kFormat;
}
namespace tiresias {
extern const Format kFormat;
}
namespace acme {
extern const Format kSerenFormat;
extern const Format kKalosFormat;
extern const Format kConvertedFormat;
}  // namespace acme
namespace dlrm {
extern const Format kFormat;
}
namespace spot {
extern const Format kFormat;
}
namespace sia {
extern const Format kFormat;
}
namespace gavel {
extern const Format kFormat;
extern const Format kShockwaveFormat;
}  // namespace gavel
namespace google {
extern const Format kJobsFormat;
extern const Format kTasksFormat;
extern const Format kCondensedFormat;
}  // namespace google
namespace pai {
extern const Format kFormat;
extern const Format kInstancesFormat;
}  // namespace pai
namespace own {
extern const Format kCsvFormat;
extern const Format kJsonLinesFormat;
}  // namespace own
namespace sacct {
extern const Format kFormat;
}
extern const Format kPhillyPolluxFormat;
extern const Format kChronusFormat;
extern const Format kElasticFlowFormat;
extern const Format kNativeFormat;

// Makes the parser of any format.
std::unique_ptr<RowParser> open_parser(const Format& format, ParserInput input);

// The parsers share the functions below.

// The end of the message about a missing column. It says that the format was guessed; empty if
// params.format names the format.
std::string how_guessed(const Format& format, const TraceParams& params);
// The fields of the first line; an empty list if the text is empty.
std::vector<std::string_view> first_fields(std::string_view beginning, char separator);
std::string_view interned(CsvReader& row, size_t column, StringPool& pool);
// Sets the job's name, row and id.
void identify(CsvReader& row, size_t column, TraceJob& job);
// The name up to a '#' as a number, if that part is a whole number; else a hash of the name.
int64_t id_of(std::string_view name);
// Spreads the GPUs of a job over its pods. All pods but the last get `gpus` / `pods`, rounded up.
// The last pod gets the remaining GPUs, but at least one unless `gpus` is 0. Examples: 12 GPUs on 2
// pods are 6 + 6, and 9 on 2 are 5 + 4; 7 on 5 are 2 + 2 + 2 + 2 + 1, which is 2 more than
// recorded. A pod with more than kGpusPerPodMax GPUs is a mistake in `column`.
void spread_gpus(CsvReader& row, size_t column, int64_t gpus, int64_t pods, TraceJob& job);
constexpr int64_t kGpusPerPodMax = 16;
// Like spread_gpus() above. If a pod would get more than kGpusPerPodMax GPUs, returns false without
// a report.
[[nodiscard]] bool spread_gpus(int64_t gpus, int64_t pods, TraceJob& job);
// For traces that do not record how many nodes a job had. Jobs of up to 8 GPUs have one pod; larger
// jobs have as few pods of up to 8 GPUs as possible.
void pack_gpus(CsvReader& row, size_t column, int64_t gpus, TraceJob& job);
int64_t pods_for(int64_t gpus);
// If the job ran longer than requested, cuts its duration or raises its requested time, as
// `overruns` says.
void settle_overrun(TraceOverruns overruns, TraceJob& job);
// Sets the job's id and name to the row number.
void number_by_row(int64_t row, TraceJob& job);

}  // namespace orrery::traces
