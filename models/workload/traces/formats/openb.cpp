#include <algorithm>

#include "models/workload/traces/formats/format.hpp"

namespace orrery::traces::openb {
namespace {

constexpr int64_t kCpuMilliMax = 10'000'000;
constexpr int64_t kMemoryMibMax = int64_t{1} << 30U;
constexpr int64_t kSecondsMax = 9'000'000'000;
constexpr int64_t kWholeGpu = 1000;

constexpr std::string_view kColumns[] = {
    "name", "cpu_milli", "memory_mib",    "num_gpu",       "gpu_milli",     "gpu_spec",
    "qos",  "pod_phase", "creation_time", "deletion_time", "scheduled_time"};
enum Column : size_t {
  kName,
  kCpu,
  kMemory,
  kGpus,
  kGpuMilli,
  kGpuSpec,
  kQos,
  kPhase,
  kCreation,
  kDeletion,
  kScheduled
};

constexpr Word<TracePriority> kQosClasses[] = {{"LS", TracePriority::High},
                                               {"Guaranteed", TracePriority::High},
                                               {"Burstable", TracePriority::Normal},
                                               {"BE", TracePriority::Low}};
// pod_phase is the phase when the list was made. It need not be the final outcome.
constexpr Word<TraceStatus> kPhases[] = {{"Running", TraceStatus::Running},
                                         {"Succeeded", TraceStatus::Completed},
                                         {"Failed", TraceStatus::Failed},
                                         {"Pending", TraceStatus::Pending}};

void parse_gpus(CsvReader& row, TraceJob& job) {
  const int64_t gpus = row.integer(kGpus, 0, 16);
  const int64_t milli = row.integer(kGpuMilli, 0, int64_t{1} << 40U);
  job.gpus_per_pod = job.gpus_last_pod = static_cast<int32_t>(gpus);
  if (gpus == 0) return;
  if (milli == 0) row.wrong(kGpuMilli, "1 or more with a GPU");
  if (gpus > 1 && milli < kWholeGpu) row.wrong(kGpuMilli, "1000 with several GPUs");
  // A share of more than one GPU is read as one GPU, as in the converter published with openb.
  job.gpu_milli = static_cast<int32_t>(std::min(milli, kWholeGpu));
}

TraceRow parse_pod(CsvReader& row, StringPool& pool) {
  TraceRow out;
  TraceJob& job = out.job;
  identify(row, kName, job);
  job.cpu_milli_per_pod = row.integer(kCpu, 0, kCpuMilliMax);
  job.memory_per_pod = Bytes{row.integer(kMemory, 0, kMemoryMibMax) << 20U};
  parse_gpus(row, job);
  job.gpu_models = interned(row, kGpuSpec, pool);
  job.priority = row.word<TracePriority>(kQos, kQosClasses);
  job.status = row.word<TraceStatus>(kPhase, kPhases);
  const Duration created{row.integer(kCreation, 0, kSecondsMax) * 1'000'000'000};
  const Duration deleted{row.integer(kDeletion, 0, kSecondsMax) * 1'000'000'000};
  job.submit = Time{} + created;
  out.start = job.submit;
  if (!row.text(kScheduled).empty()) {
    const Duration scheduled = row.seconds(kScheduled);
    if (scheduled < created) row.wrong(kScheduled, "a time not before creation_time");
    out.start = Time{} + scheduled;
    job.wait_recorded = scheduled - created;
  } else if (job.status != TraceStatus::Pending) {
    row.wrong(kScheduled, "a time, as the pod is not Pending");
  }
  if (Time{} + deleted < out.start) row.wrong(kDeletion, "a time not before the pod's start");
  job.duration = Time{} + deleted - out.start;
  return out;
}

constexpr std::string_view kUntimedColumns[] = {"name", "cpu_milli", "memory_mib", "num_gpu",
                                                "gpu_milli"};

// Some variants of the list were published without times. All their pods arrive at once, in the
// order of the file.
TraceRow parse_untimed(CsvReader& row, StringPool&) {
  TraceRow out;
  TraceJob& job = out.job;
  identify(row, kName, job);
  job.cpu_milli_per_pod = row.integer(kCpu, 0, kCpuMilliMax);
  job.memory_per_pod = Bytes{row.integer(kMemory, 0, kMemoryMibMax) << 20U};
  parse_gpus(row, job);
  return out;
}

}  // namespace

const Format kUntimedFormat{.id = TraceFormat::OpenbUntimed,
                            .columns = kUntimedColumns,
                            .parse = parse_untimed,
                            .durations = Durations::InNoRow};

const Format kFormat{.id = TraceFormat::Openb,
                     .columns = kColumns,
                     .parse = parse_pod,
                     .submit_column = kCreation,
                     .start_column = kScheduled,
                     .has_statuses = true,
                     .has_starts = true,
                     .is_unsorted = true,
                     .has_pending = true,
                     .lists_survivors = true};

}  // namespace orrery::traces::openb
