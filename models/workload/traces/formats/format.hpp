// models/workload/traces/formats/format.hpp -- the properties of each trace format.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "models/workload/traces/formats/row_parser.hpp"
#include "models/workload/traces/io/csv.hpp"

namespace orrery::traces {

// If rows lack the duration of their job, params.default_duration is used.
enum class Durations : uint8_t { InEveryRow, InMostRows, InNoRow };

// A table with a header names its columns and parses one row at a time. Any other layout opens its
// own parser, and is recognised by its first lines.
struct Format {
  TraceFormat id = TraceFormat::Auto;
  std::span<const std::string_view> columns = {};
  TraceRow (*parse)(CsvReader& row, StringPool& pool) = nullptr;
  size_t submit_column = 0, start_column = 0;  // equal if starts are not recorded
  std::unique_ptr<RowParser> (*open)(ParserInput input) = nullptr;
  // From 0 to 1: how well the beginning of a file matches this layout.
  double (*likeness)(std::string_view beginning) = nullptr;
  Durations durations = Durations::InEveryRow;
  bool has_queues = false;
  bool has_groups = false;
  bool has_statuses = false;  // rows have the outcome of jobs
  bool has_gpus = true;
  bool has_processors = false;  // requested and allocated processors: SWF
  bool has_steps = false;       // steps in place of durations: Gavel
  bool has_starts = false;
  bool has_sensors = false;  // may have measured use in other files: PAI
  bool has_nodes = false;    // rows have the nodes of jobs
  bool has_dates = false;
  // Times may count seconds from the trace's own zero or, in some files, from 1970 or as dates;
  // then the run starts at midnight.
  bool may_count_from_1970 = false;
  bool has_comments = false;
  bool is_unsorted = false;
  bool has_pending = false;
  // Lists only jobs that ended after recording began, although some were submitted long before. A
  // warm-started replay begins at the first end.
  bool lists_survivors = false;
  bool has_own_columns = false;  // named in params.columns
  bool has_gpu_types = false;    // GPU types with names of the site: sacct
};

extern const Format kOpenbFormat;
extern const Format kOpenbUntimedFormat;
extern const Format kHeliosFormat;
extern const Format kHeliosDerivedFormat;
extern const Format kHeliosCanonicalFormat;
extern const Format kSwfFormat;
extern const Format kPhillyFormat;
extern const Format kPhillyPolluxFormat;
extern const Format kChronusFormat;
extern const Format kElasticFlowFormat;
extern const Format kTiresiasFormat;
extern const Format kAcmeSerenFormat;
extern const Format kAcmeKalosFormat;
extern const Format kAcmeConvertedFormat;
extern const Format kDlrmFormat;
extern const Format kSpotFormat;
extern const Format kSiaFormat;
extern const Format kGavelFormat;
extern const Format kShockwaveFormat;
extern const Format kGoogleJobsFormat;
extern const Format kGoogleTasksFormat;
extern const Format kGoogleCondensedFormat;
extern const Format kPaiFormat;
extern const Format kPaiInstancesFormat;
extern const Format kNativeFormat;
extern const Format kCsvFormat;
extern const Format kJsonLinesFormat;
extern const Format kSacctFormat;

// The parser of a format, whether a table or not.
std::unique_ptr<RowParser> open_parser(const Format& format, ParserInput input);

// Shared by the parsers. The hint after a missing column if the format was guessed.
std::string how_guessed(const Format& format, const TraceParams& params);
// The fields of the first line; empty without one.
std::vector<std::string_view> first_fields(std::string_view beginning, char separator);
std::string_view interned(CsvReader& row, size_t column, StringPool& pool);
// Sets the job's name, and its number from the digits of the name, up to a '#'.
void identify(CsvReader& row, size_t column, TraceJob& job);
int64_t id_of(std::string_view name);
// Spreads `gpus` over `pods` as evenly as whole GPUs allow; the last pod takes the rest, but at
// least one. Example: 12 on 2 are 6 + 6, 9 on 2 are 5 + 4. 7 on 5 are 2 + 2 + 2 + 2 + 1, which is 2
// more than recorded, because pods are equal.
void spread_gpus(CsvReader& row, size_t column, int64_t gpus, int64_t pods, TraceJob& job);
// The same without findings; false: a pod would request more than kGpusPerPodMax.
constexpr int64_t kGpusPerPodMax = 16;
[[nodiscard]] bool spread_gpus(int64_t gpus, int64_t pods, TraceJob& job);
// For traces without nodes: one pod for up to 8 GPUs, beyond that as few pods of up to 8 as
// possible.
void pack_gpus(CsvReader& row, size_t column, int64_t gpus, TraceJob& job);
int64_t pods_for(int64_t gpus);
// Cuts the duration, or raises the request, of a job that ran longer than requested.
void settle_overrun(TraceOverruns overruns, TraceJob& job);
// Numbers the job by its row.
void number_by_row(int64_t row, TraceJob& job);

}  // namespace orrery::traces
