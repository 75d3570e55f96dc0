#include "models/workload/traces/trace_reader.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "models/workload/traces/formats/detect.hpp"
#include "models/workload/traces/formats/trace_checks.hpp"
#include "models/workload/traces/io/cell.hpp"
#include "models/workload/traces/reorder.hpp"
#include "models/workload/traces/requests/request_format.hpp"
#include "sim/config/diagnostics.hpp"
#include "sim/core/check.hpp"

namespace orrery {
namespace {

using namespace traces;

constexpr int64_t kDayNs = 86'400'000'000'000;
constexpr int64_t kYears10Ns = 3650 * kDayNs;

// A trace that can be opened more than once.
struct Origin {
  std::string name;
  std::optional<std::string_view> text;  // absent: the text is in the file `name`
  TextSource open() const {
    return text ? TextSource::from_memory(*text, name) : TextSource::open_file(name);
  }
};

// The earliest end of a job in the file. Mistakes in the file are reported later, when the file is
// read again for the replay.
Time first_end(const Format& format, const Origin& origin, const TraceParams& params) {
  Findings findings{{.file = origin.name, .errors_max = 1, .is_lenient = params.lenient}};
  StringPool pool;
  const auto parser = open_parser(format, {origin.open(), findings, pool, params});
  Time first = Time::max();
  while (const TraceRow* row = parser->next()) {
    first = std::min(first, row->start + row->job.duration);
  }
  return first == Time::max() ? Time{} : first;
}

std::string window_start_text(Time first_end) {
  return std::to_string(first_end.ns / 1'000'000'000) + " s, the first end of a job";
}

class FileTraceReader final : public TraceReader {
 public:
  FileTraceReader(const TraceParams& params, const Origin& origin, size_t errors_max)
      : params_{params},
        findings_{{.file = origin.name, .errors_max = errors_max, .is_lenient = params.lenient}},
        queue_seen_(params.queues.size()) {
    format_ = choose_format(origin);
    if (format_ == nullptr) return;
    parser_ = open_parser(*format_, {origin.open(), findings_, pool_, params_});
    check_params();
    is_open_ = findings_.errors().empty();
    if (is_open_ && params_.warm_start && !window_start_ && format_->lists_survivors) {
      window_start_ = zero_ = first_end_ = first_end(*format_, origin, params_);
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
    if (copies_left_ > 0 && !has_enough()) {
      --copies_left_;
      ++counts_.delivered;
      return &job_;
    }
    if (!is_open_ || has_enough()) return nullptr;
    while (!is_drained_ && !waiting_.is_full()) read_row();
    if (is_drained_ && !findings_.errors().empty() && !keeps_going_) return nullptr;
    if (!waiting_.error().empty()) {
      stop(findings_.file() + ": " + waiting_.error());
      return nullptr;
    }
    if (waiting_.size() == 0) return nullptr;
    job_ = waiting_.pop();
    if (!zero_) zero_ = start_of(earliest_);
    if (window_start_) job_.submit = std::max(job_.submit, *window_start_);
    if (job_.submit < last_arrival_) {
      stop(place_of(job_) + ": the row is at least " + std::to_string(ReorderBuffer::kWindow) +
           " rows late: set sort: all");
      return nullptr;
    }
    last_arrival_ = job_.submit;
    job_.submit = rebased(job_.submit);
    copies_left_ = params_.copies - 1;
    ++counts_.delivered;
    return &job_;
  }

  const std::vector<std::string>& errors() const override { return findings_.errors(); }
  TraceCounts counts() const override;
  std::vector<TraceNote> notes() const override { return notes_of(findings_); }
  const std::vector<std::string>& skipped_examples() const override {
    return findings_.skipped_examples();
  }
  std::vector<std::pair<std::string, std::string>> facts() const override {
    if (!parser_) return {};
    std::vector<std::pair<std::string, std::string>> facts(parser_->facts().begin(),
                                                           parser_->facts().end());
    if (first_end_) facts.emplace_back("window_start", window_start_text(*first_end_));
    return facts;
  }
  std::vector<std::string> side_files() const override {
    return parser_ ? parser_->side_files() : std::vector<std::string>{};
  }
  TraceFormat format() const override { return format_ ? format_->id : TraceFormat::Auto; }
  TraceColumnUse columns() const override {
    return parser_ ? parser_->columns() : TraceColumnUse{};
  }
  // After this call, next() returns all jobs that were read, even if other rows were malformed.
  void keep_going() { keeps_going_ = true; }

 private:
  void wrong_param(std::string_view name, std::string_view what) {
    findings_.stop(std::string{name} + ": " + std::string{what});
  }
  bool has_enough() const { return params_.jobs_max > 0 && counts_.delivered >= params_.jobs_max; }
  bool takes_size_and_status(const TraceJob& job);
  const Format* choose_format(const Origin& origin);
  void check_params();
  std::optional<Time> instant(std::string_view name, const std::string& text);
  Time start_of(Time first) const;
  void read_row();
  bool takes_unstarted(TraceRow& row);
  bool complete_duration(TraceRow& row);
  bool takes_queue(std::string_view queue);
  bool fit_window(TraceRow& row);
  Time rebased(Time arrival) const;
  void check_queues();
  void check_counts() const;
  // "file:row:column (name)" of the job's arrival; only "file:row" if the layout has no columns.
  std::string place_of(const TraceJob& job) const {
    return findings_.file() + ":" + std::to_string(job.row) +
           parser_->arrival_place(params_.arrive_at);
  }
  void stop(const std::string& message) {
    findings_.stop(message);
    is_open_ = false;
  }

  TraceParams params_;
  Findings findings_;
  StringPool pool_;
  std::unique_ptr<RowParser> parser_;
  const Format* format_ = nullptr;
  ReorderBuffer waiting_{true};
  bool is_open_ = false;
  bool is_drained_ = false;
  bool keeps_going_ = false;
  std::optional<Time> window_start_;
  std::optional<Time> window_end_;
  std::optional<Time> first_end_;  // set only if window_start is the first end of a job
  std::optional<Time> zero_;       // time in the trace at which the run starts
  // Earliest submission read so far. Time::max() unless the whole file is read and sorted before
  // the first job is delivered.
  Time earliest_ = Time::max();
  Time last_arrival_{std::numeric_limits<int64_t>::min()};
  std::vector<bool> queue_seen_;
  // Names of queues in the file, for suggestions; stored only if there is a queue filter.
  std::vector<std::string> queues_met_;
  TraceJob job_;
  int32_t copies_left_ = 0;
  TraceCounts counts_;
  int64_t taken_ = 0;  // rows that became jobs; copies are not counted
};

const Format* FileTraceReader::choose_format(const Origin& origin) {
  TextSource source = origin.open();
  if (params_.format != TraceFormat::Auto) return find_format({}, params_.format);
  if (source.error()) {
    findings_.stop(*source.error());
    return nullptr;
  }
  const std::string beginning = read_beginning(std::move(source));
  if (params_.columns != TraceColumns{}) return find_own_format(beginning);
  const Format* const format = find_format(beginning, TraceFormat::Auto);
  if (format != nullptr) return format;
  if (const RequestLayout* const requests = find_request_layout(beginning, RequestFormat::Auto)) {
    findings_.stop(findings_.file() + ": the file holds requests (" +
                   std::string{name_of(requests->id)} + "), not jobs");
    return nullptr;
  }
  // If the file is damaged, report the damage, not an unknown format.
  TextSource again = origin.open();
  const bool has_text = again.next_line().has_value();
  findings_.stop(
      again.error().value_or(findings_.file() + (has_text ? ": " + unknown_format(beginning)
                                                          : ": found no rows, expected a header")));
  return nullptr;
}

TraceCounts FileTraceReader::counts() const {
  TraceCounts counts = counts_;
  for (const Findings::Count& count : findings_.left_out()) counts.left_out += count.rows;
  counts.rows = findings_.rows();
  counts.joined = findings_.joined();
  counts.skipped = findings_.skipped();
  return counts;
}

std::optional<Time> FileTraceReader::instant(std::string_view name, const std::string& text) {
  const Clock clock = format_->has_dates             ? Clock::Dates
                      : format_->may_count_from_1970 ? Clock::Either
                                                     : Clock::Seconds;
  const Instant instant = parse_instant(name, text, clock);
  if (!instant.mistake.empty()) findings_.stop(instant.mistake);
  return instant.at;
}

void FileTraceReader::check_params() {
  if (const auto mistake = mistaken_param(params_, *format_)) findings_.stop(*mistake);
  window_start_ = instant("window_start", params_.window_start);
  window_end_ = instant("window_end", params_.window_end);
  zero_ = window_start_;
  if (!zero_ && !format_->has_dates && !format_->may_count_from_1970) zero_ = Time{};
}

bool FileTraceReader::takes_size_and_status(const TraceJob& job) {
  const int64_t gpus = job.gpus();
  if (gpus < params_.gpus_min || (params_.gpus_max > 0 && gpus > params_.gpus_max)) {
    ++counts_.other_size;
    return false;
  }
  const auto& statuses = params_.statuses;
  if (!statuses.empty() &&
      std::find(statuses.begin(), statuses.end(), job.status) == statuses.end()) {
    ++counts_.other_status;
    return false;
  }
  return true;
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

// Applies the window. Returns false if the job is not replayed. With warm_start, a job that waits
// or runs at window_start arrives at that instant. The `submit` of a running job is set to its
// start here, and next() raises it to window_start. So running jobs are delivered before waiting
// jobs, in the order of their starts, and can get GPUs first.
bool FileTraceReader::fit_window(TraceRow& row) {
  TraceJob& job = row.job;
  if (params_.arrive_at == TraceArrival::Start) job.submit = row.start;
  if (window_end_ && job.submit >= *window_end_) return false;
  if (!window_start_ || job.submit >= *window_start_) return true;
  if (!params_.warm_start) return false;
  if (job.cancelled_after >= Duration{}) {  // the job waits until it is cancelled
    if (row.start < *window_start_) return false;
    job.cancelled_after = row.start - *window_start_;
    job.submit = *window_start_;
    ++counts_.warm_started;
    return true;
  }
  const Time end = row.start + job.duration;
  if (end < *window_start_) return false;
  const bool ran = row.start < *window_start_;
  if (ran) job.duration = end - *window_start_;
  job.submit = ran ? row.start : *window_start_;
  ++counts_.warm_started;
  return true;
}

// If times are dates or count from 1970, the run starts at midnight, so that hours of the day keep
// their meaning.
Time FileTraceReader::start_of(Time first) const {
  const bool is_date = format_->has_dates || first.ns >= kYears10Ns;
  return is_date ? Time{first.ns / kDayNs * kDayNs} : Time{};
}

// For jobs that were cancelled before they started. Returns whether the job is replayed. A missing
// duration is replaced by the requested time, if that was recorded.
bool FileTraceReader::takes_unstarted(TraceRow& row) {
  if (!params_.cancelled_unstarted || params_.arrive_at == TraceArrival::Start) {
    findings_.leave_out(row.lacks_duration.empty() ? "never started" : row.lacks_duration);
    return false;
  }
  if (row.lacks_duration.empty() || row.job.requested_time <= Duration{}) return true;
  row.job.duration = row.job.requested_time;
  row.lacks_duration = {};
  return true;
}

// Gives a job of unknown duration the default duration. Returns false if there is no default.
bool FileTraceReader::complete_duration(TraceRow& row) {
  if (row.lacks_duration.empty() && format_->durations != Durations::InNoRow) return true;
  if (!params_.default_duration) {
    findings_.leave_out(row.lacks_duration);
    return false;
  }
  row.job.duration = *params_.default_duration;
  settle_overrun(params_.swf.overruns, row.job);
  if (!row.lacks_duration.empty()) {
    findings_.remark("how long it ran is unknown: given the default duration");
  }
  return true;
}

void FileTraceReader::read_row() {
  const TraceRow* const parsed = parser_->next();
  if (parsed == nullptr) {
    is_drained_ = true;
    check_counts();
    check_queues();
    return;
  }
  TraceRow row = *parsed;
  if (!params_.recorded_nodes) row.job.node = {};
  if (row.job.cancelled_after >= Duration{} && !takes_unstarted(row)) return;
  if (!complete_duration(row)) return;
  if (!waiting_.is_window()) {
    earliest_ = std::min(earliest_, row.job.submit);
  } else if (!zero_) {
    zero_ = start_of(row.job.submit);
  }
  if (zero_ && !window_start_ && row.job.submit < *zero_) {
    findings_.stop(place_of(row.job) +
                   ": the job arrives on a day before that of the first row: set window_start");
    return;
  }
  if (row.job.status == TraceStatus::Pending && !params_.openb.pending_jobs) {
    ++counts_.never_started;
  } else if (params_.gpu_jobs_only && row.job.gpus() == 0) {
    ++counts_.without_gpus;
  } else if (!takes_size_and_status(row.job)) {
    return;
  } else if (!takes_queue(row.job.queue)) {
    ++counts_.other_queue;
  } else if (!fit_window(row)) {
    ++counts_.outside_window;
  } else {
    waiting_.push(row.job);
    ++taken_;
  }
}

void FileTraceReader::check_counts() const {
  if (!findings_.errors().empty()) return;
  const TraceCounts all = counts();
  ORRERY_CHECK(all.rows == all.joined + all.skipped + all.left_out + all.filtered() + taken_,
               "every row of a trace is counted, and once");
}

// A queue of the parameter `queues` without a job is an error: its name is probably misspelt.
void FileTraceReader::check_queues() {
  if (!findings_.errors().empty()) return;
  for (size_t i = 0; i < queue_seen_.size(); ++i) {
    if (queue_seen_[i]) continue;
    wrong_param("queues", "no job of " + findings_.file() + " is in queue " +
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
