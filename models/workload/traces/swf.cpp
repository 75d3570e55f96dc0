// The Standard Workload Format of the Parallel Workloads Archive: 18 fields separated by blanks,
// -1 where nothing is known. Some logs append fields: they are passed over, but for the queue name
// that the 21-field variant holds in its 20th.
#include <array>

#include "models/workload/traces/format.hpp"
#include "sim/core/check.hpp"

namespace orrery::traces {
namespace {

constexpr size_t kFields = 18;
constexpr size_t kFieldsMax = 64;
constexpr size_t kFactsMax = 64;
constexpr size_t kNameMax = 256;
constexpr size_t kFactLengthMax = 400;
constexpr int64_t kProcessorsMax = 10'000'000;
constexpr int64_t kMemoryMax = int64_t{1} << 40U;  // KiB per processor
constexpr int64_t kCoreMilli = 1000;

constexpr std::array<std::string_view, kFields> kNames = {"job number",
                                                          "submit time",
                                                          "wait time",
                                                          "run time",
                                                          "allocated processors",
                                                          "CPU time used",
                                                          "used memory",
                                                          "requested processors",
                                                          "requested time",
                                                          "requested memory",
                                                          "status",
                                                          "user",
                                                          "group",
                                                          "executable",
                                                          "queue",
                                                          "partition",
                                                          "preceding job",
                                                          "think time"};
enum Field : size_t {
  kNumber,
  kSubmit,
  kWait,
  kRun,
  kAllocated,
  kCpuTime,
  kUsedMemory,
  kRequested,
  kRequestedTime,
  kRequestedMemory,
  kStatus,
  kUser,
  kGroup,
  kExecutable,
  kQueue,
  kPartition,
  kPreceding,
  kThinkTime
};

constexpr bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// Fields of a line up to a number of them; how many there were.
size_t split_blanks(std::string_view line, std::span<std::string_view> fields) {
  size_t count = 0;
  const char* at = line.data();
  const char* const end = at + line.size();
  while (at != end) {
    while (at != end && is_blank(*at)) ++at;
    const char* const begin = at;
    while (at != end && !is_blank(*at)) ++at;
    if (at == begin) break;
    if (count < fields.size()) fields[count] = {begin, static_cast<size_t>(at - begin)};
    ++count;
  }
  return count;
}

class SwfParser final : public RowParser {
 public:
  explicit SwfParser(ParserInput input)
      : source_{std::move(input.source)},
        findings_{input.findings},
        pool_{input.pool},
        params_{input.params} {}

  const TraceRow* next() override {
    while (!findings_.is_stopped()) {
      const auto line = source_.next_line();
      if (!line) {
        if (source_.error()) findings_.stop(*source_.error());
        return nullptr;
      }
      const std::string_view text = trimmed(*line);
      if (text.empty()) continue;
      if (text.front() == ';') {
        note_header(text.substr(1));
        continue;
      }
      findings_.start_row(source_.row());
      parse(text);
      if (findings_.row_ok()) return &row_;
    }
    return nullptr;
  }
  std::string arrival_place(TraceArrival) const override { return ":2 (submit time)"; }
  std::span<const Fact> facts() const override { return facts_; }

 private:
  void note_header(std::string_view text);
  void parse(std::string_view line);
  void parse_size();
  void parse_names(size_t count);
  void wrong(Field field, std::string_view expected) {
    findings_.wrong_field(field + 1, kNames[field], fields_[field], expected);
  }
  // -1, or any other negative number, says that nothing is known.
  int64_t whole(Field field, int64_t high);
  Duration span(Field field);
  std::string_view name(Field field);

  TextSource source_;
  Findings& findings_;
  StringPool& pool_;
  const TraceParams& params_;
  std::array<std::string_view, kFieldsMax> fields_;
  std::vector<Fact> facts_;
  TraceRow row_;
};

void SwfParser::note_header(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos || facts_.size() >= kFactsMax) return;
  const std::string_view key = trimmed(text.substr(0, colon));
  const std::string_view value = trimmed(text.substr(colon + 1));
  const bool is_key = !key.empty() && text.substr(colon + 1).starts_with(' ');
  if (!is_key || value.empty() || text.size() > kFactLengthMax) return;
  facts_.emplace_back(key, value);
}

int64_t SwfParser::whole(Field field, int64_t high) {
  const auto value = parse_whole(fields_[field]);
  if (value && *value <= high) return std::max<int64_t>(*value, -1);
  wrong(field, "a whole number up to " + std::to_string(high) + ", or -1");
  return -1;
}

Duration SwfParser::span(Field field) {
  const auto value = parse_seconds(fields_[field]);
  if (value) return value->ns < 0 ? TraceJob::kUnknown : *value;
  wrong(field, "a number of seconds, or -1");
  return TraceJob::kUnknown;
}

std::string_view SwfParser::name(Field field) {
  const auto value = parse_whole(fields_[field]);
  if (!value) wrong(field, "a whole number, or -1");
  if (!value || *value < 0) return {};
  if (fields_[field].size() > kNameMax) wrong(field, "at most 256 bytes");
  const auto text = pool_.intern(fields_[field].substr(0, kNameMax));
  if (text) return *text;
  wrong(field, "at most " + std::to_string(StringPool::kMax) + " different names in a file");
  return {};
}

// The size of the job in processors. A log may hold both counts, or either; cores of one job are
// pods of one core each, or one pod.
void SwfParser::parse_size() {
  TraceJob& job = row_.job;
  const int64_t allocated = whole(kAllocated, kProcessorsMax);
  const int64_t requested = whole(kRequested, kProcessorsMax);
  int64_t processors = params_.processors == TraceProcessors::Requested ? requested : allocated;
  if (processors <= 0) processors = std::max(requested, allocated);
  if (processors <= 0) {
    findings_.leave_out("neither requested nor allocated processors are known");
    return;
  }
  if (requested > 0 && allocated > 0 && requested != allocated) {
    findings_.remark("requested and allocated processors differ");
  }
  const int64_t memory = std::max<int64_t>(whole(kRequestedMemory, kMemoryMax), 0) << 10U;
  job.pods = params_.one_pod ? 1 : static_cast<int32_t>(processors);
  const int64_t each = params_.one_pod ? processors : 1;
  job.cpu_milli_per_pod = each * kCoreMilli;
  if (memory > std::numeric_limits<int64_t>::max() / each) {
    wrong(kRequestedMemory, "memory of all processors below 8 EiB");
    return;
  }
  job.memory_per_pod = Bytes{memory * each};
}

void SwfParser::parse_names(size_t count) {
  TraceJob& job = row_.job;
  job.user = name(kUser);
  job.group = name(kGroup);
  job.application = name(kExecutable);
  job.queue = name(kQueue);
  const std::string_view partition = name(kPartition);
  if (job.queue.empty()) job.queue = partition;
  // The variant's fields after the 18th: nodes, queue name, resources asked for.
  if (count == 21) job.queue = pool_.intern(fields_[19].substr(0, kNameMax)).value_or(job.queue);
}

void SwfParser::parse(std::string_view line) {
  const size_t count = split_blanks(line, fields_);
  if (count < kFields) {
    findings_.mistake(": found " + std::to_string(count) + " fields, expected at least 18 fields");
    return;
  }
  row_ = {};
  TraceJob& job = row_.job;
  job.row = source_.row();
  job.id = std::max<int64_t>(whole(kNumber, std::numeric_limits<int64_t>::max()), 0);
  job.name = TraceName{fields_[kNumber]};
  const Duration submit = span(kSubmit);
  if (submit.ns < 0) wrong(kSubmit, "a number of seconds >= 0");
  job.submit = Time{submit.ns};
  job.wait_recorded = span(kWait);
  row_.start = job.submit + std::max(job.wait_recorded, Duration{});
  const Duration run = span(kRun);
  const int64_t status = whole(kStatus, 5);
  constexpr std::array<TraceStatus, 7> kStatuses = {
      TraceStatus::Unknown, TraceStatus::Failed,  TraceStatus::Completed, TraceStatus::Unknown,
      TraceStatus::Unknown, TraceStatus::Unknown, TraceStatus::Cancelled};
  job.status = kStatuses[static_cast<size_t>(status + 1)];
  if (status >= 2 && status <= 4) {
    findings_.leave_out("part of a job that has a row of its own (status 2, 3 or 4)");
  } else if (job.status == TraceStatus::Cancelled && job.wait_recorded.ns < 0 && run.ns <= 0) {
    findings_.leave_out("cancelled before it started");
  } else if (run.ns < 0) {
    findings_.leave_out("the run time is unknown");
  }
  job.duration = run;
  parse_size();
  const Duration requested_time = span(kRequestedTime);
  if (requested_time.ns > 0) job.requested_time = requested_time;
  if (requested_time.ns > 0 && run > requested_time) {
    findings_.remark("ran longer than requested");
    if (params_.overruns == TraceOverruns::Kill) job.duration = requested_time;
  }
  parse_names(count);
  const int64_t preceding = whole(kPreceding, std::numeric_limits<int64_t>::max());
  if (preceding > 0) job.after = preceding;
  job.think_time = span(kThinkTime);
}

double likeness(std::string_view beginning) {
  std::array<std::string_view, kFields> fields;
  while (!beginning.empty()) {
    const size_t end = std::min(beginning.find('\n'), beginning.size());
    const std::string_view line = trimmed(beginning.substr(0, end));
    beginning.remove_prefix(std::min(end + 1, beginning.size()));
    if (line.empty() || line.front() == ';') continue;
    if (split_blanks(line, fields) < kFields) return 0;
    for (const std::string_view field : fields) {
      if (!parse_whole(field) && !parse_seconds(field)) return 0;
    }
    return 1;
  }
  return 0;
}

}  // namespace

const Format kSwfFormat{.id = TraceFormat::Swf,
                        .open = [](ParserInput input) -> std::unique_ptr<RowParser> {
                          return std::make_unique<SwfParser>(std::move(input));
                        },
                        .likeness = likeness,
                        .durations = Durations::InMostRows,
                        .has_queues = true,
                        .has_groups = true,
                        .has_statuses = true,
                        .has_gpus = false,
                        .has_processors = true,
                        .has_starts = true,
                        .may_count_from_1970 = true};

}  // namespace orrery::traces
