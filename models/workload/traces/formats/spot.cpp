// The job list of the Alibaba spot GPU set of 2026: gangs of workers, high-priority (HP) or spot.
#include <cmath>

#include "models/workload/traces/formats/format.hpp"

namespace orrery::traces::spot {
namespace {

constexpr std::string_view kColumns[] = {"job_name",    "organization", "gpu_model",
                                         "cpu_request", "gpu_request",  "worker_num",
                                         "submit_time", "duration",     "job_type"};
enum Column : size_t {
  kName,
  kOrganization,
  kModel,
  kCpu,
  kGpu,
  kWorkers,
  kSubmit,
  kDuration,
  kType
};
constexpr Word<TracePriority> kTypes[] = {{"HP", TracePriority::High},
                                          {"Spot", TracePriority::Low}};

// The column gives the GPUs of one worker. A value between 0 and 1 is a share of one GPU.
void parse_gpus(CsvReader& row, TraceJob& job) {
  const double gpus = row.number(kGpu, 0, 16);
  if (gpus >= 1 || gpus == 0) {
    if (gpus != std::floor(gpus)) row.wrong(kGpu, "whole GPUs, or a share of one");
    job.gpus_per_pod = job.gpus_last_pod = static_cast<int32_t>(gpus);
    return;
  }
  job.gpus_per_pod = job.gpus_last_pod = 1;
  job.gpu_milli = std::max(static_cast<int32_t>(std::lround(gpus * 1000)), 1);
}

TraceRow parse_job(CsvReader& row, StringPool& pool) {
  TraceRow out;
  TraceJob& job = out.job;
  identify(row, kName, job);
  job.queue = interned(row, kOrganization, pool);
  job.gpu_models = interned(row, kModel, pool);
  job.cpu_milli_per_pod = static_cast<int64_t>(row.number(kCpu, 0, 100'000) * 1000);
  parse_gpus(row, job);
  job.pods = static_cast<int32_t>(row.whole(kWorkers, 1, 100'000));
  job.submit = Time{} + row.seconds(kSubmit);
  job.duration = row.seconds(kDuration);
  job.priority = row.word<TracePriority>(kType, kTypes);
  out.start = job.submit;
  return out;
}

}  // namespace

const Format kFormat{.id = TraceFormat::Spot,
                     .columns = kColumns,
                     .parse = parse_job,
                     .submit_column = kSubmit,
                     .start_column = kSubmit,
                     .has_queues = true};

}  // namespace orrery::traces::spot
