#include "models/workload/traces/tables/pai_tables.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "models/workload/traces/formats/format.hpp"

namespace orrery::traces {
namespace {

constexpr std::string_view kJobColumns[] = {"job_name", "inst_id",    "user",
                                            "status",   "start_time", "end_time"};
constexpr std::string_view kGroupColumns[] = {"inst_id", "user", "gpu_type_spec", "group",
                                              "workload"};
constexpr std::string_view kSensorColumns[] = {
    "job_name",  "task_name",    "worker_name", "inst_id",    "machine",         "gpu_name",
    "cpu_usage", "gpu_wrk_util", "avg_mem",     "max_mem",    "avg_gpu_wrk_mem", "max_gpu_wrk_mem",
    "read",      "write",        "read_count",  "write_count"};
enum Plan : size_t { kPlanCpu = 6, kPlanMemory, kPlanGpu, kGpuType };
enum Sensor : size_t { kWorker = 2, kCpuUsage = 6, kGpuUtil, kMemoryMean, kMemoryMost };

// PAI's V100 is the V100M16 of gpu_model.cpp. Machines of type CPU have no GPU model.
std::string_view gpu_model_of(CsvReader& row, size_t column, StringPool& pool) {
  if (row.text(column) == "V100") return "V100M16";
  if (row.text(column) == "CPU") return {};
  return interned(row, column, pool);
}

Bytes gibibytes(double count) {
  return Bytes{static_cast<int64_t>(count * static_cast<double>(1 << 30))};
}

// Converts hundredths of a GPU to a share of one GPU or, from 100 on, to whole GPUs, rounded up.
void set_gpus(double hundredths, int32_t& gpus, int32_t& gpu_milli) {
  gpus = hundredths <= 0 ? 0 : static_cast<int32_t>(std::ceil(hundredths / 100));
  gpu_milli = hundredths > 0 && hundredths < 100
                  ? std::max(static_cast<int32_t>(std::lround(hundredths * 10)), 1)
                  : 1000;
}

}  // namespace

PaiPlan parse_pai_plan(CsvReader& row, StringPool& pool) {
  PaiPlan plan;
  if (!row.is_nothing(kPlanCpu)) {  // hundredths of a core
    plan.cpu_milli = static_cast<int64_t>(row.number(kPlanCpu, 0, 10'000'000) * 10);
  }
  if (!row.is_nothing(kPlanMemory)) plan.memory = gibibytes(row.number(kPlanMemory, 0, 1'000'000));
  if (!row.is_nothing(kPlanGpu)) {
    const double hundredths = row.number(kPlanGpu, 0, 1600);
    set_gpus(hundredths, plan.gpus, plan.gpu_milli);
    if (hundredths > 100 && plan.gpus * 100 != hundredths) {
      row.findings().remark("a part of a GPU beside whole ones: rounded up");
    }
  }
  const std::string_view model = gpu_model_of(row, kGpuType, pool);
  if (plan.gpus > 0) plan.gpu_model = model;
  return plan;
}

void apply_pai_plan(const PaiPlan& plan, TraceJob& job) {
  job.cpu_milli_per_pod = plan.cpu_milli;
  job.memory_per_pod = plan.memory;
  job.gpus_per_pod = job.gpus_last_pod = plan.gpus;
  job.gpu_milli = plan.gpu_milli;
  job.gpu_models = plan.gpu_model;
}

void parse_pai_times(CsvReader& row, size_t start_column, TraceRow& out) {
  const size_t end_column = start_column + 1;
  if (row.is_nothing(start_column)) {
    row.findings().leave_out("never started");
    return;
  }
  out.start = Time{} + row.seconds(start_column);
  if (row.is_nothing(end_column)) {
    out.lacks_duration = "still running when the recording stopped";
    return;
  }
  const Time end = Time{} + row.seconds(end_column);
  if (end < out.start) row.wrong(end_column, "a time not before start_time");
  out.job.duration = end - out.start;
}

std::string pai_task_name(std::string_view job, std::string_view task) {
  std::string name{job};
  return name.append("/").append(task);
}

template <class F>
void PaiTables::read_table(TextSource source, std::span<const std::string_view> columns, F&& each) {
  Findings findings{{.file = source.name(), .is_lenient = findings_.is_lenient()}};
  CsvReader csv{std::move(source), findings, columns};
  csv.bind(columns);
  while (csv.next_row()) each(csv);
  findings_.take_over(findings);
}

void PaiTables::read_groups(TextSource source) {
  read_table(std::move(source), kGroupColumns, [this](CsvReader& csv) {
    const Tag tag{.workload = interned(csv, 4, pool_), .gpu_model = gpu_model_of(csv, 2, pool_)};
    if (csv.row_ok()) tags_.insert_or_assign(id_of(csv.text(0)), tag);
  });
}

void PaiTables::read_jobs(TextSource source) {
  has_jobs_ = true;
  read_table(std::move(source), kJobColumns, [this](CsvReader& csv) {
    PaiSubmission submission;
    submission.is_known = !csv.is_nothing(4);
    if (submission.is_known) submission.at = Time{} + csv.seconds(4);
    submission.user = interned(csv, 2, pool_);
    if (const auto tag = tags_.find(id_of(csv.text(1))); tag != tags_.end()) {
      submission.workload = tag->second.workload;
      submission.gpu_model = tag->second.gpu_model;
    }
    if (csv.row_ok()) jobs_.insert_or_assign(id_of(csv.text(0)), submission);
  });
}

void PaiTables::read_plans(TextSource source) {
  read_table(std::move(source), kPaiTaskColumns, [this](CsvReader& csv) {
    const PaiPlan plan = parse_pai_plan(csv, pool_);
    if (csv.row_ok()) {
      plans_.insert_or_assign(id_of(pai_task_name(csv.text(0), csv.text(1))), plan);
    }
  });
}

void PaiTables::read_uses(TextSource source, UseOf of) {
  read_table(std::move(source), kSensorColumns, [this, of](CsvReader& csv) {
    PaiUse seen;
    const auto number = [&](size_t column, double high, int32_t& workers) {
      if (csv.is_nothing(column)) return 0.0;
      workers = 1;
      return csv.number(column, 0, high);
    };
    seen.cpu = number(kCpuUsage, 10'000'000, seen.workers);
    seen.gpu = number(kGpuUtil, 1600, seen.gpu_workers);
    seen.memory = number(kMemoryMost, 1'000'000, seen.memory_workers);
    if (!csv.row_ok()) return;
    const std::string task = pai_task_name(csv.text(0), csv.text(1));
    PaiUse& use = uses_[id_of(of == UseOf::Tasks ? task : csv.text(kWorker))];
    use.workers += seen.workers;
    use.gpu_workers += seen.gpu_workers;
    use.memory_workers += seen.memory_workers;
    use.cpu += seen.cpu;
    use.gpu += seen.gpu;
    use.memory = std::max(use.memory, seen.memory);
  });
}

std::optional<TextSource> PaiTables::open(const std::string& file, const std::string& table) {
  auto source = TextSource::open_beside(file, table);
  if (source) files_.push_back(source->name());
  return source;
}

void PaiTables::read_jobs_beside(const std::string& file) {
  if (auto source = open(file, "pai_group_tag_table.csv")) {
    read_groups(std::move(*source));
  }
  if (auto source = open(file, "pai_job_table.csv")) {
    read_jobs(std::move(*source));
  }
}

bool PaiTables::read_plans_beside(const std::string& file) {
  auto source = open(file, "pai_task_table.csv");
  if (source) read_plans(std::move(*source));
  return source.has_value();
}

bool PaiTables::read_uses_beside(const std::string& file, UseOf of) {
  auto source = open(file, "pai_sensor_table.csv");
  if (source) read_uses(std::move(*source), of);
  return source.has_value();
}

void PaiTables::apply_submission(std::string_view job_name, TraceRow& row) const {
  TraceJob& job = row.job;
  job.submit = row.start;
  const auto known = jobs_.find(id_of(job_name));
  if (known == jobs_.end()) {
    findings_.remark(has_jobs_ ? "its job is not in the job table: arrives when it started"
                               : "there is no job table beside: arrives when it started");
    return;
  }
  const PaiSubmission& submission = known->second;
  job.user = submission.user;
  job.application = submission.workload;
  if (job.gpus_per_pod > 0 && !submission.gpu_model.empty()) job.gpu_models = submission.gpu_model;
  if (submission.is_known && submission.at <= row.start) {
    job.submit = submission.at;
    job.wait_recorded = row.start - job.submit;
  } else if (submission.is_known) {
    findings_.remark("started before its job was submitted: arrives when it started");
  } else {
    findings_.remark("its job's row has no start_time: arrives when it started");
  }
}

const PaiPlan* PaiTables::plan_of(const std::string& task) const {
  const auto found = plans_.find(id_of(task));
  return found == plans_.end() ? nullptr : &found->second;
}

void PaiTables::apply_use(std::string_view name, TraceJob& job) const {
  const auto found = uses_.find(id_of(name));
  if (found == uses_.end()) {
    findings_.remark("no sensor saw it: asks for what was planned");
    return;
  }
  const PaiUse& use = found->second;
  if (use.workers > 0) {
    job.cpu_milli_per_pod = std::max<int64_t>(static_cast<int64_t>(use.cpu / use.workers * 10), 1);
  }
  if (use.memory_workers > 0) {
    job.memory_per_pod = Bytes{static_cast<int64_t>(use.memory * 1e9)};
  }
  if (job.gpus_per_pod == 0 || use.gpu_workers == 0) return;
  // If the measured GPUs were idle, the pod still requests 0.001 GPU, the smallest share.
  const double hundredths = std::max(use.gpu / use.gpu_workers, 0.1);
  set_gpus(hundredths, job.gpus_per_pod, job.gpu_milli);
  job.gpus_last_pod = job.gpus_per_pod;
}

}  // namespace orrery::traces
