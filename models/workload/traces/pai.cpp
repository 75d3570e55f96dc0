// The Alibaba PAI log of 2020: tables without headers. A row of the task table is a gang of alike
// instances; the job table, in the same folder, tells who submitted its job and when, and the group
// table what kind of work it was.
#include <cmath>
#include <map>
#include <unordered_map>

#include "models/workload/traces/format.hpp"

namespace orrery::traces {
namespace {

constexpr std::string_view kTaskColumns[] = {"job_name",   "task_name", "inst_num", "status",
                                             "start_time", "end_time",  "plan_cpu", "plan_mem",
                                             "plan_gpu",   "gpu_type"};
constexpr std::string_view kJobColumns[] = {"job_name", "inst_id",    "user",
                                            "status",   "start_time", "end_time"};
constexpr std::string_view kGroupColumns[] = {"inst_id", "user", "gpu_type_spec", "group",
                                              "workload"};
enum Column : size_t {
  kJob,
  kTask,
  kInstances,
  kStatus,
  kStart,
  kEnd,
  kCpu,
  kMemory,
  kGpu,
  kGpuType
};
constexpr Word<TraceStatus> kStates[] = {{"Terminated", TraceStatus::Completed},
                                         {"Failed", TraceStatus::Failed},
                                         {"Running", TraceStatus::Running},
                                         {"Waiting", TraceStatus::Pending}};

// A million jobs must fit: names are kept as hashes, since two that share one are not expected
// among fewer than billions.
struct Submission {
  Time at;
  bool is_known = false;
  std::string_view user, workload, gpu_model;
};
struct Tag {
  std::string_view workload, gpu_model;
};

class PaiParser final : public RowParser {
 public:
  explicit PaiParser(ParserInput input)
      : findings_{input.findings},
        pool_{input.pool},
        csv_{std::move(input.source), input.findings, kTaskColumns} {
    csv_.bind(kTaskColumns);
    if (!findings_.is_stopped()) read_jobs(input.params.file, read_groups(input.params.file));
  }

  const TraceRow* next() override {
    while (csv_.next_row()) {
      parse();
      if (csv_.row_ok()) return &row_;
    }
    return nullptr;
  }

 private:
  using Tags = std::unordered_map<int64_t, Tag>;

  Tags read_groups(const std::string& beside);
  void read_jobs(const std::string& beside, const Tags& tags);
  void parse();
  void parse_gpus();
  void parse_times();

  Findings& findings_;
  StringPool& pool_;
  CsvReader csv_;
  bool has_jobs_ = false;
  std::unordered_map<int64_t, Submission> jobs_;
  TraceRow row_;
};

PaiParser::Tags PaiParser::read_groups(const std::string& beside) {
  Tags tags;
  auto source = TextSource::open_beside(beside, "pai_group_tag_table.csv");
  if (!source) return tags;
  Findings findings{{.file = source->name()}};
  CsvReader csv{std::move(*source), findings, kGroupColumns};
  csv.bind(kGroupColumns);
  while (csv.next_row()) {
    const Tag tag{.workload = interned(csv, 4, pool_), .gpu_model = interned(csv, 2, pool_)};
    tags.insert_or_assign(id_of(csv.text(0)), tag);
  }
  for (const std::string& error : findings.errors()) findings_.stop(error);
  return tags;
}

void PaiParser::read_jobs(const std::string& beside, const Tags& tags) {
  auto source = TextSource::open_beside(beside, "pai_job_table.csv");
  if (!source) return;
  has_jobs_ = true;
  Findings findings{{.file = source->name()}};
  CsvReader csv{std::move(*source), findings, kJobColumns};
  csv.bind(kJobColumns);
  while (csv.next_row()) {
    Submission submission;
    submission.is_known = !csv.is_nothing(4);
    if (submission.is_known) submission.at = Time{} + csv.seconds(4);
    submission.user = interned(csv, 2, pool_);
    if (const auto tag = tags.find(id_of(csv.text(1))); tag != tags.end()) {
      submission.workload = tag->second.workload;
      submission.gpu_model = tag->second.gpu_model;
    }
    jobs_.insert_or_assign(id_of(csv.text(0)), submission);
  }
  for (const std::string& error : findings.errors()) findings_.stop(error);
}

// Hundredths of a GPU for each instance. What is more than one GPU but not whole is rounded up.
void PaiParser::parse_gpus() {
  TraceJob& job = row_.job;
  if (csv_.is_nothing(kGpu)) return;
  const double hundredths = csv_.number(kGpu, 0, 1600);
  if (hundredths <= 0) return;
  if (hundredths < 100) {
    job.gpus_per_pod = job.gpus_last_pod = 1;
    job.gpu_milli = std::max(static_cast<int32_t>(std::lround(hundredths * 10)), 1);
    return;
  }
  const double gpus = std::ceil(hundredths / 100);
  if (gpus * 100 != hundredths) findings_.remark("a part of a GPU beside whole ones: rounded up");
  job.gpus_per_pod = job.gpus_last_pod = static_cast<int32_t>(gpus);
}

void PaiParser::parse_times() {
  TraceJob& job = row_.job;
  if (csv_.is_nothing(kStart)) {
    findings_.leave_out("never started");
    return;
  }
  row_.start = Time{} + csv_.seconds(kStart);
  job.submit = row_.start;
  if (const auto known = jobs_.find(id_of(csv_.text(kJob))); known != jobs_.end()) {
    const Submission& submission = known->second;
    job.user = submission.user;
    job.application = submission.workload;
    if (!submission.gpu_model.empty()) job.gpu_models = submission.gpu_model;
    if (submission.is_known && submission.at <= row_.start) {
      job.submit = submission.at;
      job.wait_recorded = row_.start - job.submit;
    } else if (submission.is_known) {
      findings_.remark("started before its job was submitted: arrives when it started");
    }
  } else {
    findings_.remark(has_jobs_ ? "its job is not in the job table: arrives when it started"
                               : "there is no job table beside: arrives when it started");
  }
  if (csv_.is_nothing(kEnd)) {
    row_.lacks_duration = "still running when the recording stopped";
    return;
  }
  const Time end = Time{} + csv_.seconds(kEnd);
  if (end < row_.start) csv_.wrong(kEnd, "a time not before start_time");
  job.duration = end - row_.start;
}

void PaiParser::parse() {
  row_ = {};
  TraceJob& job = row_.job;
  job.row = csv_.row();
  const std::string_view name = csv_.short_text(kJob, 64);
  if (name.empty()) csv_.wrong(kJob, "a name");
  job.id = id_of(name);
  std::string full{name};
  full.append("/").append(csv_.short_text(kTask, 64));
  job.name = TraceName{full};
  job.status = csv_.word<TraceStatus>(kStatus, kStates);
  job.pods =
      static_cast<int32_t>(csv_.is_nothing(kInstances) ? 1 : csv_.whole(kInstances, 1, 100'000));
  if (!csv_.is_nothing(kCpu)) {  // hundredths of a core
    job.cpu_milli_per_pod = static_cast<int64_t>(csv_.number(kCpu, 0, 10'000'000) * 10);
  }
  if (!csv_.is_nothing(kMemory)) {
    const double gib = csv_.number(kMemory, 0, 1'000'000);
    job.memory_per_pod = Bytes{static_cast<int64_t>(gib * static_cast<double>(1 << 30))};
  }
  parse_gpus();
  // What ran is one model at most; CPU machines are no GPU model.
  const std::string_view model = interned(csv_, kGpuType, pool_);
  if (job.gpus_per_pod > 0 && model != "CPU") job.gpu_models = model;
  parse_times();
}

double likeness(std::string_view beginning) {
  const auto fields = first_fields(beginning, ',');
  if (fields.size() != std::size(kTaskColumns)) return 0;
  for (const auto& state : kStates) {
    if (fields[kStatus] == state.text) return 1;
  }
  return 0;
}

}  // namespace

const Format kPaiFormat{.id = TraceFormat::Pai,
                        .open = [](ParserInput input) -> std::unique_ptr<RowParser> {
                          return std::make_unique<PaiParser>(std::move(input));
                        },
                        .likeness = likeness,
                        .durations = Durations::InMostRows,
                        .has_statuses = true,
                        .has_starts = true,
                        .is_unsorted = true};

}  // namespace orrery::traces
