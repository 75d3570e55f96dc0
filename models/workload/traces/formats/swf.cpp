// The Standard Workload Format of the Parallel Workloads Archive: 18 fields separated by blanks, -1
// for unknown values. Some logs append fields. These are skipped, except for the queue name in the
// 20th field of the 21-field variant.
#include <array>
#include <charconv>

#include "models/workload/traces/formats/format.hpp"
#include "sim/core/check.hpp"

namespace orrery::traces::swf {
namespace {

constexpr size_t kFields = 18;
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

struct Split {
  size_t count = 0;       // number of fields found
  std::string_view rest;  // text after these fields
};

Split split_blanks(std::string_view line, std::span<std::string_view> fields) {
  size_t count = 0;
  const char* at = line.data();
  const char* const end = at + line.size();
  while (at != end && count < fields.size()) {
    while (at != end && is_blank(*at)) ++at;
    const char* const begin = at;
    while (at != end && !is_blank(*at)) ++at;
    if (at == begin) break;
    fields[count++] = {begin, static_cast<size_t>(at - begin)};
  }
  return {count, trimmed({at, static_cast<size_t>(end - at)})};
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
  void parse_status(Duration run);
  void parse_size();
  void parse_use(Duration run);
  void parse_names();
  void parse_variant(std::string_view rest);
  void wrong(Field field, std::string_view expected) {
    findings_.wrong_field(field + 1, kNames[field], fields_[field], expected);
  }
  // In the file, -1 or any other negative number means unknown.
  int64_t whole(Field field, int64_t high);
  Duration span(Field field);
  double kibibytes(Field field);
  std::string_view name(Field field);

  TextSource source_;
  Findings& findings_;
  StringPool& pool_;
  const TraceParams& params_;
  std::array<std::string_view, kFields> fields_;
  std::vector<Fact> facts_;
  int64_t whole_job_ = TraceJob::kNone;  // id of the last row that is for a whole job
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

// Memory per processor need not be a whole number: some logs give the kilobytes of a job divided by
// its number of processors.
double SwfParser::kibibytes(Field field) {
  const std::string_view text = fields_[field];
  double value = -1;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_number = status == std::errc{} && end == text.data() + text.size();
  if (is_number && value <= static_cast<double>(kMemoryMax)) return value < 0 ? -1 : value;
  wrong(field, "a number up to " + std::to_string(kMemoryMax) + ", or -1");
  return -1;
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

// A job that was swapped out has a row for the whole job and, below that row, a row for each part;
// the rows of parts are left out. A cancelled job with an unknown wait is left out as never
// started, unless its run time is above 0: some logs record no waits.
void SwfParser::parse_status(Duration run) {
  TraceJob& job = row_.job;
  const int64_t status = whole(kStatus, 5);
  constexpr std::array<TraceStatus, 7> kStatuses = {
      TraceStatus::Unknown, TraceStatus::Failed,  TraceStatus::Completed, TraceStatus::Unknown,
      TraceStatus::Unknown, TraceStatus::Unknown, TraceStatus::Cancelled};
  job.status = kStatuses[static_cast<size_t>(status + 1)];
  if (status >= 2 && status <= 4) {
    findings_.leave_out(job.id == whole_job_
                            ? "part of a job; the whole job has a row above (status 2, 3 or 4)"
                            : "part of a job; the whole job has no row above (status 2, 3 or 4)");
    return;
  }
  whole_job_ = job.id;
  if (job.status != TraceStatus::Cancelled || job.wait_recorded.ns >= 0) return;
  if (run.ns <= 0) {
    findings_.leave_out("cancelled before it started");
  } else {
    findings_.remark("cancelled, and ran although its wait is unknown");
  }
}

// Measured use is not replayed, because TraceJob has no field for it. The job gets a remark if its
// CPU time exceeds its run time by more than 1 s, or its used memory exceeds the requested memory.
void SwfParser::parse_use(Duration run) {
  const Duration cpu_time = span(kCpuTime);
  const double used = kibibytes(kUsedMemory);
  const double requested = kibibytes(kRequestedMemory);
  if (run.ns >= 0 && cpu_time > run + 1_s) {
    findings_.remark("used more CPU time on each processor than it ran");
  }
  if (requested > 0 && used > requested) findings_.remark("used more memory than it requested");
}

// Reads the number of processors. swf.processors selects the requested or the allocated number. If
// the selected number is unknown, the job has the other number. Example: the requested number is -1
// (unknown) and the allocated number is 64, so the job has 64 processors. The job becomes pods of
// one core each, or one pod with all cores (swf.one_pod).
void SwfParser::parse_size() {
  TraceJob& job = row_.job;
  const int64_t allocated = whole(kAllocated, kProcessorsMax);
  const int64_t requested = whole(kRequested, kProcessorsMax);
  int64_t processors = params_.swf.processors == TraceProcessors::Requested ? requested : allocated;
  if (processors <= 0) processors = std::max(requested, allocated);
  if (processors <= 0) {
    findings_.leave_out("neither requested nor allocated processors are known");
    return;
  }
  if (requested > 0 && allocated > 0 && requested != allocated) {
    findings_.remark("requested and allocated processors differ");
  }
  const auto memory = static_cast<int64_t>(std::max(kibibytes(kRequestedMemory), 0.0) * 1024);
  job.pods = params_.swf.one_pod ? 1 : static_cast<int32_t>(processors);
  const int64_t each = params_.swf.one_pod ? processors : 1;
  job.cpu_milli_per_pod = each * kCoreMilli;
  if (memory > std::numeric_limits<int64_t>::max() / each) {
    wrong(kRequestedMemory, "memory of all processors below 8 EiB");
    return;
  }
  job.memory_per_pod = Bytes{memory * each};
}

void SwfParser::parse_names() {
  TraceJob& job = row_.job;
  job.user = name(kUser);
  job.group = name(kGroup);
  job.application = name(kExecutable);
  job.queue = name(kQueue);
  const std::string_view partition = name(kPartition);
  if (job.queue.empty()) job.queue = partition;
}

// Fields 19 to 21 of the 21-field variant are the nodes, the name of the queue, and requested
// resources. The nodes may be in braces, with blanks inside: {n1 n2}.
void SwfParser::parse_variant(std::string_view rest) {
  std::array<std::string_view, 4> fields;
  size_t queue = 1;
  if (rest.starts_with('{')) {
    const size_t close = rest.find('}');
    if (close == std::string_view::npos) {
      findings_.wrong_field(kFields + 1, "nodes", rest, "a list that ends with '}'");
      return;
    }
    rest.remove_prefix(close + 1);
    queue = 0;
  }
  const size_t count = split_blanks(rest, fields).count;
  if (count != queue + 2) return;
  const auto text = pool_.intern(fields[queue].substr(0, kNameMax));
  if (text) {
    row_.job.queue = *text;
  } else {
    findings_.wrong_field(kFields + 2, "queue name", fields[queue],
                          "at most " + std::to_string(StringPool::kMax) + " different names");
  }
}

void SwfParser::parse(std::string_view line) {
  const Split split = split_blanks(line, fields_);
  if (split.count < kFields) {
    findings_.mistake(": found " + std::to_string(split.count) +
                      " fields, expected at least 18 fields");
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
  parse_status(run);
  if (run.ns < 0) row_.lacks_duration = "the run time is unknown";
  job.duration = run;
  parse_size();
  parse_use(run);
  const Duration requested_time = span(kRequestedTime);
  if (requested_time.ns > 0) job.requested_time = requested_time;
  if (job.overran()) findings_.remark("ran longer than requested");
  settle_overrun(params_.swf.overruns, job);
  parse_names();
  if (!split.rest.empty()) parse_variant(split.rest);
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
    if (split_blanks(line, fields).count < kFields) return 0;
    for (const std::string_view field : fields) {
      if (!parse_whole(field) && !parse_seconds(field)) return 0;
    }
    return 1;
  }
  return 0;
}

}  // namespace

const Format kFormat{.id = TraceFormat::Swf,
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

}  // namespace orrery::traces::swf
