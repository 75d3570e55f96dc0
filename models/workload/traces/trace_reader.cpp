#include "models/workload/traces/trace_reader.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "models/workload/traces/csv.hpp"
#include "models/workload/traces/format.hpp"
#include "models/workload/traces/reorder.hpp"
#include "sim/config/diagnostics.hpp"

namespace orrery {
namespace {

using namespace traces;

constexpr const Format* kFormats[] = {&kOpenbFormat, &kHeliosFormat, &kHeliosDerivedFormat,
                                      &kHeliosCanonicalFormat};
constexpr int64_t kDayNs = 86'400'000'000'000;

// A trace that can be read from its start more than once.
struct Origin {
  std::string name;
  std::optional<std::string_view> text;  // absent: the file of that name
  TextSource open() const {
    return text ? TextSource::from_memory(*text, name) : TextSource::open_file(name);
  }
};

size_t columns_present(const CsvReader& csv, const Format& format) {
  return static_cast<size_t>(
      std::count_if(format.columns.begin(), format.columns.end(),
                    [&](std::string_view name) { return csv.has_column(name); }));
}

// The format asked for, or the one whose columns the header has most of: binding it then names
// what is missing. Null when the header resembles none.
const Format* find_format(const CsvReader& csv, TraceFormat wanted) {
  const Format* best = nullptr;
  double best_share = 0.5;
  for (const Format* format : kFormats) {
    if (format->id == wanted) return format;
    if (wanted != TraceFormat::Auto) continue;
    const double share = static_cast<double>(columns_present(csv, *format)) /
                         static_cast<double>(format->columns.size());
    if (share > best_share) {
      best = format;
      best_share = share;
    }
  }
  return best;
}

// When the first job of the file ended. Ends at a mistake, which the reading proper will report.
Time first_end(const Format& format, const Origin& origin) {
  CsvReader csv{origin.open(), 1};
  csv.bind(format.columns);
  StringPool pool;
  Time first = Time::max();
  while (csv.next_row()) {
    const TraceRow row = format.parse(csv, pool);
    if (csv.row_ok()) first = std::min(first, row.start + row.job.duration);
  }
  return first == Time::max() ? Time{} : first;
}

class FileTraceReader final : public TraceReader {
 public:
  FileTraceReader(const TraceParams& params, const Origin& origin, size_t errors_max)
      : params_{params}, csv_{origin.open(), errors_max}, queue_seen_(params.queues.size()) {
    if (!csv_.errors().empty()) return;
    format_ = find_format(csv_, params_.format);
    if (format_ == nullptr) {
      csv_.fail(csv_.name() + ":" + std::to_string(csv_.row()) +
                ": the header is of no known trace format (openb, helios, helios_derived, "
                "helios_canonical)");
      return;
    }
    csv_.bind(format_->columns);
    if (format_->has_comments) csv_.allow_comments();
    check_params();
    is_open_ = csv_.errors().empty();
    if (is_open_ && params_.warm_start && !window_start_ && format_->lists_survivors) {
      window_start_ = zero_ = first_end(*format_, origin);
    }
    if (window_start_ && window_end_ && *window_end_ <= *window_start_) {
      wrong_param("window_end", "expected a time after window_start");
      is_open_ = false;
    }
    const bool sorts_all =
        params_.sort == TraceSort::All || (params_.sort == TraceSort::Auto && format_->is_unsorted);
    waiting_ = ReorderBuffer{!sorts_all};
  }

  const TraceJob* next() override {
    if (!is_open_ || (params_.jobs_max > 0 && counts_.delivered >= params_.jobs_max))
      return nullptr;
    while (!is_drained_ && !waiting_.is_full()) read_row();
    if (is_drained_ && csv_.errors().size() >= 1 && !keeps_going_) return nullptr;
    if (!is_drained_ && !waiting_.is_window()) {
      stop(csv_.name() + ": more than " + std::to_string(ReorderBuffer::kAllMax) +
           " jobs, too many to sort: sort the file and set sort: window");
      return nullptr;
    }
    if (waiting_.size() == 0) return nullptr;
    job_ = waiting_.pop();
    if (job_.submit < last_arrival_) {
      stop(csv_.place(job_.row, arrival_column()) + ": the row is more than " +
           std::to_string(ReorderBuffer::kWindow) + " rows late: set sort: all");
      return nullptr;
    }
    last_arrival_ = job_.submit;
    job_.submit = rebased(job_.submit);
    ++counts_.delivered;
    return &job_;
  }

  const std::vector<std::string>& errors() const override { return csv_.errors(); }
  const TraceCounts& counts() const override { return counts_; }
  TraceFormat format() const override { return format_ ? format_->id : TraceFormat::Auto; }
  // Wrong rows no longer end the reading.
  void keep_going() { keeps_going_ = true; }

 private:
  void wrong_param(std::string_view name, std::string_view what) {
    csv_.fail(std::string{name} + ": " + std::string{what});
  }
  void check_params();
  std::optional<Time> parse_instant(std::string_view name, const std::string& text);
  void read_row();
  bool takes_queue(std::string_view queue);
  bool fit_window(TraceRow& row);
  Time rebased(Time arrival) const;
  void check_queues();
  size_t arrival_column() const {
    return params_.arrive_at == TraceArrival::Start ? format_->start_column
                                                    : format_->submit_column;
  }
  void stop(const std::string& message) {
    csv_.fail(message);
    is_open_ = false;
  }

  TraceParams params_;
  CsvReader csv_;
  StringPool pool_;
  const Format* format_ = nullptr;
  ReorderBuffer waiting_{true};
  bool is_open_ = false;
  bool is_drained_ = false;
  bool keeps_going_ = false;
  std::optional<Time> window_start_;
  std::optional<Time> window_end_;
  std::optional<Time> zero_;  // the trace's time at which the run starts
  Time last_arrival_{std::numeric_limits<int64_t>::min()};
  std::vector<bool> queue_seen_;
  std::vector<std::string> queues_met_;  // when they are filtered, for near names
  TraceJob job_;
  TraceCounts counts_;
};

std::optional<Time> FileTraceReader::parse_instant(std::string_view name, const std::string& text) {
  if (text.empty()) return {};
  if (format_->has_dates) {
    const auto instant = parse_date_time(text);
    if (!instant)
      wrong_param(name, "found " + in_quotes(text) +
                            ", expected a date such as 2020-04-01 or 2020-04-01 12:00:00");
    return instant;
  }
  const auto seconds = parse_seconds(text);
  if (seconds && seconds->ns >= 0) return Time{seconds->ns};
  wrong_param(name, "found " + in_quotes(text) +
                        ", expected seconds as the trace counts them: it has no dates");
  return {};
}

void FileTraceReader::check_params() {
  const std::string trace = "a trace of format " + std::string{name_of(format_->id)};
  if (!params_.queues.empty() && !format_->has_queues)
    wrong_param("queues", trace + " names no queues");
  if (params_.arrive_at == TraceArrival::Start && !format_->has_starts) {
    wrong_param("arrive_at", trace + " does not say when jobs started");
  }
  if (!params_.pending_jobs && !format_->has_pending) {
    wrong_param("pending_jobs", trace + " has no pending jobs");
  }
  if (!(params_.time_scale >= 0.001) || !(params_.time_scale <= 1000)) {
    wrong_param("time_scale", "expected a number from 0.001 to 1000");
  }
  if (params_.jobs_max < 0) wrong_param("jobs_max", "expected 0 (all) or more");
  window_start_ = parse_instant("window_start", params_.window_start);
  window_end_ = parse_instant("window_end", params_.window_end);
  zero_ = window_start_;
  if (!zero_ && !format_->has_dates) zero_ = Time{};
}

bool FileTraceReader::takes_queue(std::string_view queue) {
  if (params_.queues.empty()) return true;
  const auto found = std::find(params_.queues.begin(), params_.queues.end(), queue);
  if (found != params_.queues.end()) {
    queue_seen_[static_cast<size_t>(found - params_.queues.begin())] = true;
    return true;
  }
  constexpr size_t kMet = 256;
  if (queues_met_.size() < kMet &&
      std::find(queues_met_.begin(), queues_met_.end(), queue) == queues_met_.end()) {
    queues_met_.emplace_back(queue);
  }
  return false;
}

// Moves what was alive at the start of the window to that instant; false: not part of the replay.
bool FileTraceReader::fit_window(TraceRow& row) {
  TraceJob& job = row.job;
  if (params_.arrive_at == TraceArrival::Start) job.submit = row.start;
  if (window_end_ && job.submit >= *window_end_) return false;
  if (!window_start_ || job.submit >= *window_start_) return true;
  if (!params_.warm_start) return false;
  const Time end = row.start + job.duration;
  if (end < *window_start_) return false;
  if (row.start < *window_start_) job.duration = end - *window_start_;
  job.submit = *window_start_;
  ++counts_.warm_started;
  return true;
}

void FileTraceReader::read_row() {
  if (!csv_.next_row()) {
    is_drained_ = true;
    check_queues();
    return;
  }
  TraceRow row = format_->parse(csv_, pool_);
  if (!csv_.row_ok()) return;
  ++counts_.rows;
  // A run over dates starts at midnight, so that the hour of the day keeps its meaning.
  if (!zero_) zero_ = Time{row.job.submit.ns / kDayNs * kDayNs};
  if (!window_start_ && row.job.submit < *zero_) {
    csv_.fail(csv_.place(csv_.row(), arrival_column()) +
              ": the job is of a day before the first row's: set window_start");
    return;
  }
  if (row.job.status == TraceStatus::Pending && !params_.pending_jobs) {
    ++counts_.never_started;
  } else if (params_.gpu_jobs_only && row.job.gpus() == 0) {
    ++counts_.without_gpus;
  } else if (!takes_queue(row.job.queue)) {
    ++counts_.other_queue;
  } else if (!fit_window(row)) {
    ++counts_.outside_window;
  } else {
    waiting_.push(row.job);
  }
}

// A queue that nobody uses is a typing mistake: the run would silently be empty.
void FileTraceReader::check_queues() {
  if (!csv_.errors().empty()) return;
  for (size_t i = 0; i < queue_seen_.size(); ++i) {
    if (queue_seen_[i]) continue;
    wrong_param("queues", "no job of " + csv_.name() + " is in queue " +
                              in_quotes(params_.queues[i]) +
                              did_you_mean(params_.queues[i], queues_met_));
  }
}

Time FileTraceReader::rebased(Time arrival) const {
  const Duration since = arrival - *zero_;
  if (params_.time_scale == 1) return Time{since.ns};
  return Time{} + nearest_ns(since.seconds() * params_.time_scale);
}

}  // namespace

std::unique_ptr<TraceReader> open_trace(const TraceParams& params) {
  return std::make_unique<FileTraceReader>(params, Origin{params.file, {}}, 1);
}

std::unique_ptr<TraceReader> open_trace_text(const TraceParams& params, std::string_view text) {
  return std::make_unique<FileTraceReader>(params, Origin{params.file, text}, 1);
}

TraceReport validate_trace(const TraceParams& params) {
  FileTraceReader reader{params, Origin{params.file, {}}, TraceReport::kErrorsMax};
  reader.keep_going();
  while (reader.next() != nullptr) {
  }
  return {.format = reader.format(), .counts = reader.counts(), .errors = reader.errors()};
}

}  // namespace orrery
