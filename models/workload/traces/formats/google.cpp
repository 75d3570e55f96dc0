// The Google cluster log of 2011. Each row is one event. There are three layouts: job events
// without a header, task events without a header, and condensed job events with a header.
#include <limits>
#include <map>

#include "models/workload/traces/formats/format.hpp"

namespace orrery::traces::google {
namespace {

constexpr std::string_view kJobColumns[] = {
    "time", "missing info",     "job ID",   "event type",
    "user", "scheduling class", "job name", "logical job name"};
constexpr std::string_view kTaskColumns[] = {"time",
                                             "missing info",
                                             "job ID",
                                             "task index",
                                             "machine ID",
                                             "event type",
                                             "user",
                                             "scheduling class",
                                             "priority",
                                             "CPU request",
                                             "memory request",
                                             "disk space request",
                                             "different machines"};
constexpr std::string_view kCondensedColumns[] = {
    "time_us",  "missing_info",     "job_id",          "event_type",
    "user_idx", "scheduling_class", "logical_name_idx"};

constexpr std::string_view kSchedulingClasses[] = {"0", "1", "2", "3"};

enum Event : int64_t {
  kSubmit,
  kSchedule,
  kEvict,
  kFail,
  kFinish,
  kKill,
  kLost,
  kUpdatePending,
  kUpdateRunning
};

// The columns of a layout, and the positions of the columns that all layouts have.
struct Layout {
  std::span<const std::string_view> columns;
  bool has_header = false;
  size_t event = 3;
  size_t user = 4;
  size_t scheduling_class = 5;
  size_t name = 6;
  bool is_tasks = false;
};
constexpr Layout kJobs{.columns = kJobColumns, .name = 7};
constexpr Layout kTasks{.columns = kTaskColumns,
                        .event = 5,
                        .user = 6,
                        .scheduling_class = 7,
                        .name = 2,
                        .is_tasks = true};
constexpr Layout kCondensed{.columns = kCondensedColumns, .has_header = true};

// Each life of a job or task is replayed as one job. A life begins with a submission, continues
// with the first scheduling, and ends with the first event that ends the job or task. A task
// resubmitted after an eviction or failure begins a new life. Jobs that still run when the log ends
// have no duration. Jobs that are pending when the log ends are left out. CPU and memory are shares
// of the largest machine, whose size was not published. So 0.001 of that machine's CPU is read as
// one milli-CPU, and 2^-30 of its memory as one byte.
class GoogleParser final : public RowParser {
 public:
  GoogleParser(ParserInput input, const Layout& layout)
      : layout_{layout},
        findings_{input.findings},
        pool_{input.pool},
        csv_{layout.has_header
                 ? CsvReader{std::move(input.source), input.findings}
                 : CsvReader{std::move(input.source), input.findings, layout.columns}} {
    csv_.bind(layout.columns);
  }

  const TraceRow* next() override {
    while (csv_.next_row()) {
      if (follow()) return &row_;
    }
    while (!findings_.is_stopped() && !lives_.empty()) {
      const Life life = lives_.begin()->second;
      lives_.erase(lives_.begin());
      findings_.revisit_row(life.row.job.row);
      if (life.is_scheduled) {
        row_ = life.row;
        row_.job.wait_recorded = row_.start - row_.job.submit;
        row_.job.status = TraceStatus::Running;
        row_.lacks_duration = "still running when the log ends";
        return &row_;
      }
      findings_.leave_out("still pending when the log ends");
    }
    return nullptr;
  }

 private:
  struct Key {
    int64_t job = 0;
    int64_t task = 0;
    auto operator<=>(const Key&) const = default;
  };
  struct Life {
    TraceRow row;
    bool is_scheduled = false;
  };

  using Lives = std::map<Key, Life>;

  bool follow();
  void begin(Key key, Time at, bool is_scheduled);
  void parse_request(TraceJob& job);
  void schedule(Life& life, Time at);
  bool end(Lives::iterator known, Time at, int64_t event);
  bool end_unscheduled(Time at, int64_t event);

  const Layout& layout_;
  Findings& findings_;
  StringPool& pool_;
  CsvReader csv_;
  Lives lives_;
  TraceRow row_;
};

void GoogleParser::begin(Key key, Time at, bool is_scheduled) {
  if (is_scheduled) findings_.remark("scheduled without a submission");
  Life life{.row = {}, .is_scheduled = is_scheduled};
  TraceJob& job = life.row.job;
  job.row = csv_.row();
  job.id = key.job;
  std::string name = std::to_string(key.job);
  if (layout_.is_tasks) name += "." + std::to_string(key.task);
  job.name = TraceName{name};
  job.submit = life.row.start = at;
  job.user = interned(csv_, layout_.user, pool_);
  if (!layout_.is_tasks) job.application = interned(csv_, layout_.name, pool_);
  job.queue = kSchedulingClasses[csv_.whole(layout_.scheduling_class, 0, 3)];
  if (layout_.is_tasks) parse_request(job);
  if (csv_.row_ok()) lives_.emplace(key, life);
}

void GoogleParser::parse_request(TraceJob& job) {
  constexpr size_t kPriority = 8;
  constexpr size_t kCpu = 9;
  constexpr size_t kMemory = 10;
  constexpr size_t kDisk = 11;
  constexpr size_t kApart = 12;
  // Google's groups of priorities: free (0 and 1), middle (2 to 8) and production (9 and above).
  const int64_t priority = csv_.whole(kPriority, 0, 11);
  job.priority = priority <= 1   ? TracePriority::Low
                 : priority >= 9 ? TracePriority::High
                                 : TracePriority::Normal;
  const auto share = [&](size_t column) {
    return csv_.is_nothing(column) ? 0.0 : csv_.number(column, 0, 1);
  };
  job.cpu_milli_per_pod = static_cast<int64_t>(share(kCpu) * 1000);
  job.memory_per_pod = Bytes{static_cast<int64_t>(share(kMemory) * (1 << 30))};
  if (share(kDisk) > 0) findings_.remark("asks for disk: not replayed");
  if (!csv_.is_nothing(kApart) && csv_.whole(kApart, 0, 1) == 1) {
    findings_.remark("may not share a machine with a task of its job: not replayed");
  }
}

bool GoogleParser::follow() {
  constexpr int64_t kAfterTheLog = std::numeric_limits<int64_t>::max();
  constexpr int64_t kMicrosMax = kAfterTheLog / 1000;
  const int64_t us = csv_.integer(0, 0, kAfterTheLog);
  const Key key{csv_.integer(2, 0, kAfterTheLog),
                layout_.is_tasks ? csv_.integer(3, 0, kAfterTheLog) : 0};
  const int64_t event = csv_.integer(layout_.event, kSubmit, kUpdateRunning);
  if (event >= kUpdatePending) findings_.leave_out("an update: a job keeps its first request");
  // The event is left out, so its job counts as alive until the log ends.
  if (us == kAfterTheLog) findings_.leave_out("an event after the log ends, at an unknown time");
  if (us > kMicrosMax) csv_.wrong(0, "a time within 292 years");
  if (!csv_.row_ok()) return false;
  if (us == 0) findings_.remark("an event before the log begins, at an unknown time");
  if (!csv_.is_nothing(1)) findings_.remark("an event that was missing and was made up");
  const Time at{us * 1000};
  const auto known = lives_.find(key);
  if (event > kSchedule) return end(known, at, event);
  if (known == lives_.end()) {
    begin(key, at, event == kSchedule);
  } else if (event == kSubmit) {
    findings_.remark("submitted again while it lives");
    findings_.join();
  } else {
    schedule(known->second, at);
  }
  return false;
}

void GoogleParser::schedule(Life& life, Time at) {
  if (life.is_scheduled) {
    findings_.remark("scheduled again while it runs");
  } else if (at < life.row.job.submit) {
    csv_.wrong(0, "a time not before the submission");
  } else {
    life.is_scheduled = true;
    life.row.start = at;
  }
  findings_.join();
}

// The job keeps the row number of its first row. Its last row is counted as joined to the first.
bool GoogleParser::end(Lives::iterator known, Time at, int64_t event) {
  if (known == lives_.end()) {
    findings_.leave_out("an end without a submission");
    return false;
  }
  const Life& life = known->second;
  if (at < life.row.start) csv_.wrong(0, "a time not before the job's last event");
  if (!csv_.row_ok()) return false;
  findings_.join();
  const bool was_scheduled = life.is_scheduled;
  row_ = life.row;
  lives_.erase(known);
  TraceJob& job = row_.job;
  if (!was_scheduled) return end_unscheduled(at, event);
  job.duration = at - row_.start;
  job.wait_recorded = row_.start - job.submit;
  job.status = event == kFinish ? TraceStatus::Completed
               : event == kFail ? TraceStatus::Failed
               : event == kKill ? TraceStatus::Cancelled
                                : TraceStatus::Unknown;  // evicted or lost
  return csv_.row_ok();
}

bool GoogleParser::end_unscheduled(Time at, int64_t event) {
  constexpr std::string_view kWhy = "ended before it was scheduled";
  if (event != kKill) {
    findings_.leave_out(kWhy);
    return false;
  }
  row_.start = at;
  row_.lacks_duration = kWhy;
  row_.job.cancelled_after = at - row_.job.submit;
  row_.job.status = TraceStatus::Cancelled;
  return csv_.row_ok();
}

template <const Layout& layout>
std::unique_ptr<RowParser> open_layout(ParserInput input) {
  return std::make_unique<GoogleParser>(std::move(input), layout);
}

// The condensed table is recognised by its header. The other layouts have no header and are
// recognised by numbers in the columns of time, job and event.
template <const Layout& layout>
double likeness(std::string_view beginning) {
  const auto fields = first_fields(beginning, ',');
  if (fields.size() != layout.columns.size()) return 0;
  if (layout.has_header) return fields.front() == layout.columns.front() ? 1 : 0;
  const auto event = parse_integer(fields[layout.event]);
  const bool fits = parse_integer(fields[0]) && parse_integer(fields[2]) && event && *event >= 0 &&
                    *event <= kUpdateRunning;
  return fits ? 1 : 0;
}

}  // namespace

const Format kJobsFormat{.id = TraceFormat::GoogleJobs,
                         .open = open_layout<kJobs>,
                         .likeness = likeness<kJobs>,
                         .durations = Durations::InMostRows,
                         .has_queues = true,
                         .has_statuses = true,
                         .has_gpus = false,
                         .has_starts = true,
                         .is_unsorted = true};

const Format kTasksFormat{.id = TraceFormat::GoogleTasks,
                          .open = open_layout<kTasks>,
                          .likeness = likeness<kTasks>,
                          .durations = Durations::InMostRows,
                          .has_queues = true,
                          .has_statuses = true,
                          .has_gpus = false,
                          .has_starts = true,
                          .is_unsorted = true};

const Format kCondensedFormat{.id = TraceFormat::GoogleCondensed,
                              .open = open_layout<kCondensed>,
                              .likeness = likeness<kCondensed>,
                              .durations = Durations::InMostRows,
                              .has_queues = true,
                              .has_statuses = true,
                              .has_gpus = false,
                              .has_starts = true,
                              .is_unsorted = true};

}  // namespace orrery::traces::google
