// The output of Slurm's `sacct --parsable2`: a header and rows, whose fields are separated by '|'.
// Fields are those of sacct(1) of Slurm 25.11. Rows of job steps, such as 12.batch, are left out.
#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "models/workload/traces/formats/format.hpp"

namespace orrery::traces::sacct {
namespace {

constexpr int64_t kCountMax = 100'000'000;
constexpr int64_t kPodsMax = 100'000;

enum Column : size_t {
  kJobId,
  kSubmit,
  kStart,
  kEnd,
  kState,
  kElapsed,
  kRequested,
  kAllocated,
  kUser,
  kAccount,
  kPartition,
  kTimelimit,
  kNodeList,
  kColumns
};
constexpr std::array<std::string_view, kColumns> kNames = {
    "JobID",     "Submit", "Start",   "End",       "State",     "Elapsed", "ReqTRES",
    "AllocTRES", "User",   "Account", "Partition", "Timelimit", "NodeList"};
constexpr size_t kNeeded = kUser;  // the columns before kUser are needed
constexpr std::string_view kHint =
    ": run sacct --allusers --allocations --parsable2 --starttime ... --format "
    "JobID,Submit,Start,End,State,Elapsed,ReqTRES,AllocTRES,User,Account,Partition,Timelimit";

// A job in state PENDING never started. A preempted job counts as cancelled. A requeued or revoked
// job has an unknown outcome.
constexpr Word<TraceStatus> kStates[] = {
    {"COMPLETED", TraceStatus::Completed},  {"CANCELLED", TraceStatus::Cancelled},
    {"FAILED", TraceStatus::Failed},        {"TIMEOUT", TraceStatus::Timeout},
    {"NODE_FAIL", TraceStatus::NodeFail},   {"BOOT_FAIL", TraceStatus::NodeFail},
    {"OUT_OF_MEMORY", TraceStatus::Failed}, {"DEADLINE", TraceStatus::Timeout},
    {"PREEMPTED", TraceStatus::Cancelled},  {"REQUEUED", TraceStatus::Unknown},
    {"REVOKED", TraceStatus::Unknown},      {"RUNNING", TraceStatus::Running},
    {"RESIZING", TraceStatus::Running},     {"SUSPENDED", TraceStatus::Running},
    {"COMPLETING", TraceStatus::Running},   {"PENDING", TraceStatus::Pending}};

// Trackable resources such as cpu=16,mem=100G,node=2,gres/gpu=8,gres/gpu:a100=8.
struct Tres {
  int64_t cpus = 0, gpus = 0, nodes = 0, memory = 0;  // memory in bytes
  std::string_view gpu_type;
};

// Parses "100G", "93750M" or a count without a unit, which is multiplied by `plain`. Units are
// powers of 1024. The result is empty for other texts.
std::optional<int64_t> parse_count(std::string_view text, int64_t plain) {
  constexpr std::string_view kUnits = "KMGTP";
  int64_t scale = plain;
  if (!text.empty()) {
    const size_t unit = kUnits.find(text.back());
    if (unit != std::string_view::npos) {
      scale = int64_t{1} << (10U * (unit + 1));
      text.remove_suffix(1);
    }
  }
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || end != text.data() + text.size()) return {};
  if (!(value >= 0) || value * static_cast<double>(scale) > 1e17) return {};
  return static_cast<int64_t>(value * static_cast<double>(scale));
}

// GPUs by type, such as gres/gpu:a100=8. Slurm lists them beside the number of all GPUs (gres/gpu),
// or alone if Slurm does not track that number.
struct TypedGpus {
  int64_t gpus = 0;
  std::string_view type;
  bool is_mixed = false;
};

std::optional<Tres> parse_tres(std::string_view text) {
  constexpr std::string_view kGpu = "gres/gpu";
  Tres tres;
  TypedGpus typed;
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(item.size() + 1, text.size()));
    const size_t equals = item.find('=');
    if (equals == std::string_view::npos) return {};
    const std::string_view key = item.substr(0, equals);
    const bool is_memory = key == "mem";
    const bool is_counted = key == "cpu" || key == "node" || key.starts_with(kGpu);
    if (!is_memory && !is_counted) continue;  // such as energy, which is 2^64 - 2 if unknown
    const auto count = parse_count(item.substr(equals + 1), is_memory ? int64_t{1} << 20U : 1);
    if (!count) return {};
    if (is_memory) tres.memory = *count;
    if (is_memory) continue;
    if (*count > kCountMax) return {};
    if (key == "cpu") tres.cpus = *count;
    if (key == "node") tres.nodes = *count;
    if (key == kGpu) tres.gpus = *count;
    if (!key.starts_with(kGpu) || key.size() <= kGpu.size() || key[kGpu.size()] != ':') continue;
    typed.is_mixed = typed.gpus > 0;
    typed.gpus += *count;
    typed.type = key.substr(kGpu.size() + 1);
  }
  tres.gpus = std::max(tres.gpus, typed.gpus);
  if (!typed.is_mixed) tres.gpu_type = typed.type;
  return tres;
}

// Parses [[DD-]HH:]MM:SS, with an optional fraction.
std::optional<Duration> parse_elapsed(std::string_view text) {
  int64_t seconds = 0;
  const size_t dash = text.find('-');
  if (dash != std::string_view::npos) {
    const auto days = parse_integer(text.substr(0, dash));
    if (!days || *days < 0 || *days > 3660) return {};
    seconds = *days * 24;
    text.remove_prefix(dash + 1);
  }
  size_t parts = 0;
  for (bool is_last = false; !is_last; ++parts) {
    const std::string_view part = text.substr(0, text.find(':'));
    is_last = part.size() == text.size();
    text.remove_prefix(is_last ? part.size() : part.size() + 1);
    const auto value = parse_integer(part.substr(0, part.find('.')));
    if (!value || *value < 0 || *value > 100'000 || parts > 2) return {};
    seconds = (parts == 0 ? seconds : seconds * 60) + *value;
  }
  const bool is_known = parts == 3 || (parts == 2 && dash == std::string_view::npos);
  return is_known ? std::optional{Duration{seconds * 1'000'000'000}} : std::nullopt;
}

class SacctParser final : public RowParser {
 public:
  explicit SacctParser(ParserInput input)
      : csv_{std::move(input.source), input.findings, '|'},
        pool_{input.pool},
        params_{input.params} {
    at_.fill(kColumns);
    for (size_t column = 0; column < kColumns; ++column) {
      if (column >= kNeeded && !csv_.has_column(kNames[column])) continue;
      at_[column] = bound_.size();
      bound_.push_back(kNames[column]);
    }
    csv_.bind(bound_, kHint);
  }
  const TraceRow* next() override {
    while (csv_.next_row()) {
      row_ = {};
      parse();
      if (csv_.row_ok()) return &row_;
    }
    return nullptr;
  }
  std::string arrival_place(TraceArrival arrival) const override {
    return csv_.place(at_[arrival == TraceArrival::Start ? kStart : kSubmit]);
  }
  TraceColumnUse columns() const override { return csv_.use(bound_); }

 private:
  void parse();
  void parse_state();
  void parse_size();
  void parse_limit();
  void parse_times();
  // Slurm prints None or Unknown for a missing time.
  bool has_time(Column column) const {
    return !csv_.is_nothing(at_[column]) && csv_.text(at_[column]) != "Unknown";
  }
  Time stamp(Column column) {
    if (const auto value = parse_stamp(csv_.text(at_[column]))) return *value;
    csv_.wrong(at_[column], "a time such as 2024-04-01T12:00:00 (SLURM_TIME_FORMAT=standard)");
    return {};
  }
  std::string_view name(Column column) {
    const bool is_there = at_[column] < kColumns && !csv_.is_nothing(at_[column]);
    return is_there ? interned(csv_, at_[column], pool_) : std::string_view{};
  }

  CsvReader csv_;
  StringPool& pool_;
  const TraceParams& params_;
  std::array<size_t, kColumns> at_{};  // position of each column; kColumns: missing in the file
  std::vector<std::string_view> bound_;
  TraceRow row_;
};

void SacctParser::parse() {
  TraceJob& job = row_.job;
  if (csv_.text(at_[kJobId]).find('.') != std::string_view::npos) {
    csv_.findings().leave_out("a step of a job, such as 12.batch, or 12.0");
    return;
  }
  identify(csv_, at_[kJobId], job);
  if (job.name.view().find('+') != std::string_view::npos) {
    csv_.findings().remark("components of heterogeneous jobs: each is replayed by itself");
  }
  job.user = name(kUser);
  job.group = name(kAccount);
  job.queue = name(kPartition);
  parse_state();
  if (job.status == TraceStatus::Pending) {
    csv_.findings().leave_out("never started");
    return;
  }
  parse_size();
  parse_times();
  if (job.pods == 1 && has_time(kStart)) job.node = name(kNodeList);
}

// The state may have an addition, as in "CANCELLED by 1000".
void SacctParser::parse_state() {
  const std::string_view text = csv_.text(at_[kState]);
  const std::string_view state = text.substr(0, text.find_first_of(" +"));
  const auto* const known = std::ranges::find(kStates, state, &Word<TraceStatus>::text);
  if (known == std::end(kStates)) return csv_.wrong(at_[kState], "a sacct state like COMPLETED");
  row_.job.status = known->value;
}

// Reads what the job held or, if it never started, what it requested.
void SacctParser::parse_size() {
  TraceJob& job = row_.job;
  const Column column = csv_.is_nothing(at_[kAllocated]) ? kRequested : kAllocated;
  const auto tres = parse_tres(csv_.text(at_[column]));
  if (!tres) {
    return csv_.wrong(at_[column], "resources such as cpu=16,mem=100G,node=2,gres/gpu=8");
  }
  const int64_t pods = std::max<int64_t>(tres->nodes, 1);
  if (pods > kPodsMax) return csv_.wrong(at_[column], "at most 100000 nodes");
  spread_gpus(csv_, at_[column], tres->gpus, pods, job);
  job.cpu_milli_per_pod = (tres->cpus * 1000 + pods - 1) / pods;
  job.memory_per_pod = Bytes{(tres->memory + pods - 1) / pods};
  if (params_.sacct.gpu_types) job.gpu_models = pool_.intern(tres->gpu_type).value_or("");
  if (tres->gpus > 0 && job.gpus() != tres->gpus) {
    csv_.findings().remark(
        "request more GPUs than recorded, because all pods but the last "
        "request equally many");
  }
}

void SacctParser::parse_limit() {
  const size_t at = at_[kTimelimit];
  if (at == kColumns || csv_.is_nothing(at)) return;
  const std::string_view text = csv_.text(at);
  if (text == "UNLIMITED" || text == "Partition_Limit" || text == "Partition_limit") return;
  const auto limit = parse_elapsed(text);
  if (!limit) return csv_.wrong(at, "a time such as 1-02:03:04, UNLIMITED or Partition_Limit");
  row_.job.requested_time = *limit;
}

void SacctParser::parse_times() {
  TraceJob& job = row_.job;
  row_.start = job.submit = stamp(kSubmit);
  parse_limit();
  if (!has_time(kStart)) {
    row_.lacks_duration = "never started";
    const bool is_cancelled = job.status == TraceStatus::Cancelled && has_time(kEnd);
    if (is_cancelled) row_.start = stamp(kEnd);
    if (!is_cancelled || row_.start < job.submit) return csv_.findings().leave_out("never started");
    job.cancelled_after = row_.start - job.submit;
    return;
  }
  const Time start = stamp(kStart);
  if (start >= job.submit) {
    row_.start = start;
    job.wait_recorded = start - job.submit;
  } else {
    csv_.findings().remark("started before they were submitted, as when clocks are put back");
  }
  if (job.status == TraceStatus::Running) {
    row_.lacks_duration = "still running when the recording stopped";
    return;
  }
  const auto elapsed = parse_elapsed(csv_.text(at_[kElapsed]));
  if (!elapsed) return csv_.wrong(at_[kElapsed], "a time such as 1-02:03:04, 02:03:04 or 03:04");
  job.duration = *elapsed;
}

double likeness(std::string_view beginning) {
  const auto fields = first_fields(beginning, '|');
  const auto has = [&](std::string_view name) {
    return std::ranges::find(fields, name) != fields.end();
  };
  return has("JobID") && has("State") ? 1 : 0;
}

}  // namespace

const Format kFormat{.id = TraceFormat::Sacct,
                     .open = [](ParserInput input) -> std::unique_ptr<RowParser> {
                       return std::make_unique<SacctParser>(std::move(input));
                     },
                     .likeness = likeness,
                     .durations = Durations::InMostRows,
                     .has_queues = true,
                     .has_groups = true,
                     .has_statuses = true,
                     .has_starts = true,
                     .has_nodes = true,
                     .has_dates = true,
                     .is_unsorted = true,
                     .has_gpu_types = true};

}  // namespace orrery::traces::sacct
