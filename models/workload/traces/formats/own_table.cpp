// Tables written by users: CSV with a header, or JSON lines, with the columns named in
// params.columns.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "models/workload/traces/formats/format.hpp"
#include "models/workload/traces/formats/trace_checks.hpp"
#include "models/workload/traces/io/named_rows.hpp"
#include "sim/config/diagnostics.hpp"
#include "sim/config/quantity.hpp"

namespace orrery::traces::own {
namespace {

constexpr int64_t kGpusMax = 1'000'000;
constexpr int64_t kPodsMax = 100'000;
constexpr double kCpusMax = 1e8;
constexpr size_t kTextMax = 256;
constexpr Duration kSubmitMax{9'000'000'000'000'000'000};  // 285 years
constexpr Duration kTenYears{int64_t{3650} * 86'400'000'000'000};

enum Field : size_t {
  kSubmit,
  kDuration,
  kGpus,
  kPods,
  kName,
  kUser,
  kTeam,
  kApplication,
  kPriority,
  kStatus,
  kStart,
  kEnd,
  kRequested,
  kCpus,
  kMemory,
  kGpuModel,
  kNode,
  kFields
};

// The names of the columns, in the order of Field.
std::array<std::string, kFields> names_of(const TraceColumns& c) {
  return {c.submit,         c.duration,    c.gpus,     c.pods,      c.name,  c.user,
          c.team,           c.application, c.priority, c.status,    c.start, c.end,
          c.requested_time, c.cpus,        c.memory,   c.gpu_model, c.node};
}

// Columns that the user named must exist, and so must submit and gpus.
std::vector<WantedField> wanted_fields(const TraceColumns& columns) {
  const auto names = names_of(columns), unset = names_of({});
  std::vector<WantedField> wanted;
  for (size_t field = 0; field < kFields; ++field) {
    const bool is_needed = field == kSubmit || field == kGpus || names[field] != unset[field];
    wanted.push_back({names[field], is_needed});
  }
  return wanted;
}

constexpr Word<TraceStatus> kStatuses[] = {
    {"completed", TraceStatus::Completed}, {"cancelled", TraceStatus::Cancelled},
    {"canceled", TraceStatus::Cancelled},  {"failed", TraceStatus::Failed},
    {"timeout", TraceStatus::Timeout},     {"node_fail", TraceStatus::NodeFail},
    {"running", TraceStatus::Running},     {"pending", TraceStatus::Pending},
    {"unknown", TraceStatus::Unknown}};
constexpr Word<TracePriority> kPriorities[] = {
    {"low", TracePriority::Low}, {"normal", TracePriority::Normal}, {"high", TracePriority::High}};

std::string lower_case(std::string_view text) {
  std::string lower{text};
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

std::optional<double> parse_real(std::string_view text) {
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || end != text.data() + text.size()) return {};
  return value;
}

// Whether the name of a column suggests a longer unit than seconds, as gpu_hours does.
bool names_a_longer_unit(std::string_view column) {
  const std::string name = lower_case(column);
  return std::ranges::any_of(std::array{"hour", "minute", "_min", "day"}, [&](const char* unit) {
    return name.find(unit) != std::string::npos;
  });
}

class OwnParser final : public RowParser {
 public:
  OwnParser(std::unique_ptr<NamedRows> rows, StringPool& pool, const TraceParams& params)
      : rows_{std::move(rows)},
        pool_{pool},
        params_{params},
        has_odd_duration_{names_a_longer_unit(params.columns.duration)} {}

  const TraceRow* next() override {
    while (rows_->next()) {
      row_ = {};
      parse();
      if (rows_->findings().row_ok() && !rows_->findings().is_stopped()) return &row_;
    }
    return nullptr;
  }
  std::string arrival_place(TraceArrival arrival) const override {
    return rows_->place(arrival == TraceArrival::Start ? kStart : kSubmit);
  }
  TraceColumnUse columns() const override { return rows_->use(); }

 private:
  void parse();
  void parse_size();
  void parse_amounts();
  void parse_times();
  void check_clock(bool is_date, Time first);
  Time time(Field field);
  Duration span(Field field);
  std::string_view name(Field field);
  template <class E>
  E word(Field field, std::span<const Word<E>> words, E unset) {
    if (!rows_->has(field)) return unset;
    const std::string found = lower_case(rows_->text(field));
    std::string expected = "one of";
    for (const Word<E>& candidate : words) {
      if (candidate.text == found) return candidate.value;
      expected.append(" ").append(candidate.text);
    }
    rows_->wrong(field, expected);
    return unset;
  }

  std::unique_ptr<NamedRows> rows_;
  StringPool& pool_;
  const TraceParams& params_;
  // Whether the name of the duration column suggests a unit other than seconds.
  const bool has_odd_duration_;
  std::optional<bool> has_dates_;  // whether times are dates; known after the first time
  TraceRow row_;
};

void OwnParser::parse() {
  TraceJob& job = row_.job;
  number_by_row(rows_->row(), job);
  if (const std::string_view text = rows_->text(kName); !text.empty()) {
    if (text.size() > TraceName::kMax) rows_->wrong(kName, "at most 63 bytes");
    job.name = TraceName{text};
    job.id = id_of(text);
  }
  job.user = name(kUser);
  job.queue = name(kTeam);
  job.application = name(kApplication);
  job.gpu_models = name(kGpuModel);
  job.priority = word<TracePriority>(kPriority, kPriorities, TracePriority::Normal);
  job.status = word<TraceStatus>(kStatus, kStatuses, TraceStatus::Unknown);
  parse_size();
  parse_amounts();
  if (job.pods == 1) job.node = name(kNode);
  parse_times();
}

void OwnParser::parse_size() {
  constexpr std::string_view kExpected = "a whole number of GPUs, or a share of one, such as 0.25";
  TraceJob& job = row_.job;
  const auto found = parse_real(rows_->text(kGpus));
  const double gpus = found.value_or(-1);
  const bool is_share = gpus > 0 && gpus < 1;
  if (!(gpus >= 0) || gpus > static_cast<double>(kGpusMax) ||
      (!is_share && gpus != std::floor(gpus))) {
    return rows_->wrong(kGpus, kExpected);
  }
  const auto whole = static_cast<int64_t>(std::ceil(gpus));
  if (is_share) job.gpu_milli = static_cast<int32_t>(std::max(std::round(gpus * 1000), 1.0));
  int64_t pods = pods_for(whole);
  if (rows_->has(kPods)) {
    pods = parse_whole(rows_->text(kPods)).value_or(0);
    if (pods < 1 || pods > kPodsMax) return rows_->wrong(kPods, "a whole number from 1 to 100000");
    if (whole > 0 && pods > whole) return rows_->wrong(kPods, "at most as many pods as GPUs");
  }
  if (!spread_gpus(whole, pods, job)) {
    return rows_->wrong(kGpus, "at most " + std::to_string(kGpusPerPodMax) + " GPUs per pod");
  }
  if (job.gpus() > whole) {
    rows_->findings().remark(
        "request more GPUs than recorded, because all pods but the last "
        "request equally many");
  }
}

void OwnParser::parse_amounts() {
  TraceJob& job = row_.job;
  if (rows_->has(kCpus)) {
    const double cpus = parse_real(rows_->text(kCpus)).value_or(-1);
    if (!(cpus >= 0 && cpus <= kCpusMax)) return rows_->wrong(kCpus, "a number of CPU cores");
    job.cpu_milli_per_pod = static_cast<int64_t>(std::ceil(cpus * 1000 / job.pods));
  }
  if (!rows_->has(kMemory)) return;
  const std::string_view text = rows_->text(kMemory);
  const auto gib = parse_real(text);
  const config::ParsedQuantity size = config::parse_quantity(text, config::kBytesMeasure);
  const double bytes = gib ? *gib * (1U << 30U) : static_cast<double>(size.value);
  const bool is_wrong = !gib && !size.complaint.empty();
  if (is_wrong || !(bytes >= 0) || bytes > static_cast<double>(kBytesMax.count)) {
    return rows_->wrong(kMemory, "a number of GiB, or a size such as 512GB");
  }
  job.memory_per_pod = Bytes{static_cast<int64_t>(std::ceil(bytes / job.pods))};
}

void OwnParser::parse_times() {
  TraceJob& job = row_.job;
  row_.start = job.submit = time(kSubmit);
  const bool is_started = rows_->has(kStart);
  if (is_started) {
    row_.start = time(kStart);
    if (row_.start < job.submit) rows_->wrong(kStart, "a time not before submit");
    job.wait_recorded = row_.start - job.submit;
  }
  if (rows_->has(kRequested)) job.requested_time = span(kRequested);
  if (rows_->has(kDuration)) {
    job.duration = span(kDuration);
    return;
  }
  row_.lacks_duration = "how long they ran is not known";
  if (!rows_->has(kEnd)) return;
  const Time end = time(kEnd);
  if (end < row_.start) rows_->wrong(kEnd, "a time not before submit and start");
  if (is_started) {
    row_.lacks_duration = {};
    job.duration = end - row_.start;
  } else if (job.status == TraceStatus::Cancelled) {
    row_.lacks_duration = "never started";
    job.cancelled_after = end - job.submit;
    row_.start = end;
  }
}

// Checks the parameters window_start and window_end. `first` is the first time in the table. If the
// table has dates, the parameters must be dates. If the table has seconds, the parameters may be
// seconds. If `first` is at least ten years, the table is assumed to count its seconds from 1970,
// and the parameters may also be dates.
void OwnParser::check_clock(bool is_date, Time first) {
  has_dates_ = is_date;
  const Clock clock = is_date                       ? Clock::Dates
                      : first - Time{} >= kTenYears ? Clock::Either
                                                    : Clock::Seconds;
  for (const auto& [name, text] : {std::pair{"window_start", &params_.window_start},
                                   std::pair{"window_end", &params_.window_end}}) {
    const Instant instant = parse_instant(name, *text, clock);
    if (!instant.mistake.empty()) rows_->findings().stop(instant.mistake);
  }
}

Time OwnParser::time(Field field) {
  const std::string_view text = rows_->text(field);
  const auto seconds = parse_seconds(text);
  auto date = parse_stamp(text);
  if (!date) date = parse_date_time(text);
  const bool is_seconds = seconds && seconds->ns >= 0 && *seconds <= kSubmitMax;
  if (!is_seconds && !date) {
    rows_->wrong(field, "seconds >= 0, or a date and time such as 2020-04-01 12:00:00");
    return {};
  }
  const Time found = date.value_or(Time{} + seconds.value_or(Duration{}));
  if (!has_dates_) check_clock(date.has_value(), found);
  if (*has_dates_ == date.has_value()) return found;
  rows_->wrong(field, *has_dates_ ? "a date and time, as in the rows before"
                                  : "seconds, as in the rows before");
  return {};
}

Duration OwnParser::span(Field field) {
  const std::string_view text = rows_->text(field);
  const auto seconds = parse_seconds(text);
  const config::ParsedQuantity quantity = config::parse_quantity(text, config::kDurationMeasure);
  const Duration span = seconds ? *seconds : Duration{quantity.value};
  const bool is_known = seconds || quantity.complaint.empty();
  if (is_known && span >= Duration{} && span <= kDurationMax) {
    if (seconds && field == kDuration && has_odd_duration_) {
      rows_->findings().remark("read as seconds, although its column is named after another unit");
    }
    return span;
  }
  rows_->wrong(field, "seconds, or a duration such as 90min, from 0 to 3660d");
  return {};
}

std::string_view OwnParser::name(Field field) {
  if (!rows_->has(field)) return {};
  const std::string_view text = rows_->text(field);
  if (text.size() > kTextMax) {
    rows_->wrong(field, "at most " + std::to_string(kTextMax) + " bytes");
    return {};
  }
  if (const auto kept = pool_.intern(text)) return *kept;
  rows_->wrong(field, "at most " + std::to_string(StringPool::kMax) + " different names in a file");
  return {};
}

std::unique_ptr<RowParser> open_csv(ParserInput input) {
  auto rows =
      open_named_csv(std::move(input.source), input.findings, wanted_fields(input.params.columns),
                     "; the parameter columns says what each is called");
  // Once the reading has stopped, `rows` may not know the position of a column.
  const auto lacks = [&](Field field) {
    return !input.findings.is_stopped() && rows->place(field).empty();
  };
  if (!input.params.default_duration && lacks(kDuration) && (lacks(kStart) || lacks(kEnd))) {
    input.findings.stop(
        input.findings.file() +
        ": no column says how long jobs ran: expected duration, or start and end, or "
        "the parameter default_duration");
  }
  if (input.params.arrive_at == TraceArrival::Start && lacks(kStart)) {
    input.findings.stop("arrive_at: " + input.findings.file() + " has no column start");
  }
  return std::make_unique<OwnParser>(std::move(rows), input.pool, input.params);
}

std::unique_ptr<RowParser> open_json(ParserInput input) {
  return std::make_unique<OwnParser>(
      open_json_lines(std::move(input.source), input.findings, wanted_fields(input.params.columns)),
      input.pool, input.params);
}

// Less than 1: if a file also has all columns of another format, the other format is chosen.
constexpr double kLikely = 0.9;

double csv_likeness(std::string_view beginning) {
  const auto fields = first_fields(beginning, ',');
  const auto has = [&](std::string_view name) {
    return std::ranges::find(fields, name) != fields.end();
  };
  return has("submit") && has("gpus") && (has("duration") || has("end")) ? kLikely : 0;
}

double json_likeness(std::string_view beginning) {
  const std::string_view line = beginning.substr(0, beginning.find('\n'));
  const auto has = [&](std::string_view key) { return line.find(key) != std::string_view::npos; };
  return line.starts_with('{') && has("\"submit\"") && has("\"gpus\"") ? kLikely : 0;
}

constexpr Format own_format(TraceFormat id) {
  const bool is_csv = id == TraceFormat::Csv;
  return {.id = id,
          .open = is_csv ? open_csv : open_json,
          .likeness = is_csv ? csv_likeness : json_likeness,
          .durations = Durations::InMostRows,
          .has_queues = true,
          .has_statuses = true,
          .has_starts = true,
          .has_nodes = true,
          .may_count_from_1970 = true,
          .is_unsorted = true,
          .has_own_columns = true};
}

}  // namespace

constinit const Format kCsvFormat = own_format(TraceFormat::Csv);
constinit const Format kJsonLinesFormat = own_format(TraceFormat::JsonLines);

}  // namespace orrery::traces::own
