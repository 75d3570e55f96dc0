// The Acme logs of the clusters Seren and Kalos, and a table of Kalos jobs that others derived from
// these logs.
#include <algorithm>

#include "models/workload/traces/formats/format.hpp"

namespace orrery::traces::acme {
namespace {

constexpr int64_t kGpusMax = 1'000'000;
constexpr int64_t kPodsMax = 100'000;
constexpr int64_t kCpusMax = 100'000'000;
constexpr int64_t kGbMax = 1'000'000'000;
constexpr int64_t kGb = 1'000'000'000;

constexpr Word<TraceStatus> kStates[] = {
    {"COMPLETED", TraceStatus::Completed}, {"CANCELLED", TraceStatus::Cancelled},
    {"CANCELED", TraceStatus::Cancelled},  {"FAILED", TraceStatus::Failed},
    {"TIMEOUT", TraceStatus::Timeout},     {"NODE_FAIL", TraceStatus::NodeFail},
    {"RUNNING", TraceStatus::Running},     {"PENDING", TraceStatus::Pending},
    {"SUSPENDED", TraceStatus::Unknown}};

constexpr std::string_view kSerenColumns[] = {"job_id",     "user",     "node_num", "gpu_num",
                                              "cpu_num",    "type",     "state",    "submit_time",
                                              "start_time", "end_time", "gpu_time"};
constexpr std::string_view kKalosColumns[] = {
    "job_id",   "user",           "node_num",           "gpu_num",    "cpu_num",
    "type",     "state",          "submit_time",        "start_time", "end_time",
    "gpu_time", "mem_per_pod_GB", "shared_mem_per_pod", "fail_time",  "stop_time"};
enum Column : size_t {
  kId,
  kUser,
  kNodes,
  kGpus,
  kCpus,
  kType,
  kState,
  kSubmit,
  kStart,
  kEnd,
  kGpuTime,
  kMemory
};

void parse_times(CsvReader& row, TraceRow& out) {
  TraceJob& job = out.job;
  job.submit = row.stamp(kSubmit);
  if (row.is_nothing(kStart)) {
    const bool has_end = job.status == TraceStatus::Cancelled && !row.is_nothing(kEnd);
    if (has_end) out.start = row.stamp(kEnd);
    if (!has_end || out.start < job.submit) {
      row.findings().leave_out("never started");
      return;
    }
    job.cancelled_after = out.start - job.submit;
    out.lacks_duration = "never started";
    return;
  }
  out.start = row.stamp(kStart);
  if (out.start < job.submit) row.wrong(kStart, "a time not before submit_time");
  job.wait_recorded = out.start - job.submit;
  if (row.is_nothing(kEnd)) {
    out.lacks_duration = "still running when the recording stopped";
    return;
  }
  const Time end = row.stamp(kEnd);
  if (end < out.start) row.wrong(kEnd, "a time not before start_time");
  // The column `duration` is not read: in Kalos it includes the wait, in Seren it does not.
  job.duration = end - out.start;
}

TraceRow parse_log(CsvReader& row, StringPool& pool) {
  TraceRow out;
  TraceJob& job = out.job;
  identify(row, kId, job);
  job.user = interned(row, kUser, pool);
  job.application = interned(row, kType, pool);
  job.status = row.word<TraceStatus>(kState, kStates);
  const int64_t gpus = row.whole(kGpus, 0, kGpusMax);
  const int64_t nodes = row.whole(kNodes, 0, kPodsMax);
  if (nodes > 0) {
    spread_gpus(row, kGpus, gpus, nodes, job);
  } else {
    pack_gpus(row, kGpus, gpus, job);
  }
  const int64_t cpus = row.whole(kCpus, 0, kCpusMax);
  job.cpu_milli_per_pod = (cpus * 1000 + job.pods - 1) / job.pods;
  parse_times(row, out);
  return out;
}

TraceRow parse_kalos(CsvReader& row, StringPool& pool) {
  TraceRow out = parse_log(row, pool);
  if (!row.is_nothing(kMemory)) {
    const double gb = row.number(kMemory, 0, static_cast<double>(kGbMax));
    out.job.memory_per_pod = Bytes{static_cast<int64_t>(gb * static_cast<double>(kGb))};
  }
  return out;
}

constexpr std::string_view kConvertedColumns[] = {
    "job_id",          "arrival_time",   "num_iteration",      "iteration_computing_time",
    "gpu_workers",     "gpu_per_worker", "cpu_per_gpu_worker", "tensorsizes",
    "profiled_network"};

// The table has completed jobs only. A job's duration is `num_iteration` iterations of
// `iteration_computing_time`, which is 0.5 s in all rows. A pod's memory is `tensorsizes` * 100 GB.
// `profiled_network` is 1000 for pretraining. The other columns of the file hold invented values,
// and are not read.
TraceRow parse_converted(CsvReader& row, StringPool&) {
  TraceRow out;
  TraceJob& job = out.job;
  identify(row, 0, job);
  job.submit = Time{} + row.seconds(1);
  const int64_t iterations = row.whole(2, 0, 1'000'000'000);
  const Duration each = row.seconds(3);
  if (each > Duration{3'600'000'000'000}) row.wrong(3, "at most an hour");
  const int64_t workers = row.whole(4, 1, kPodsMax);
  const int64_t gpus = row.whole(5, 0, 16);
  spread_gpus(row, 5, workers * gpus, workers, job);
  job.cpu_milli_per_pod =
      static_cast<int64_t>(row.number(6, 0, 100'000) * 1000) * std::max<int64_t>(gpus, 1);
  job.memory_per_pod = Bytes{static_cast<int64_t>(row.number(7, 0, 1'000'000) * 100 * 1e9)};
  job.application = row.whole(8, 0, 1'000'000) == 1000 ? "Pretrain" : "other";
  job.status = TraceStatus::Completed;
  if (row.row_ok()) {
    if (iterations > 0 && each.ns > Duration::max().ns / iterations) {
      row.wrong(2, "a shorter job");
    } else {
      job.duration = each * iterations;
    }
  }
  out.start = job.submit;
  return out;
}

}  // namespace

const Format kSerenFormat{.id = TraceFormat::AcmeSeren,
                          .columns = kSerenColumns,
                          .parse = parse_log,
                          .submit_column = kSubmit,
                          .start_column = kStart,
                          .durations = Durations::InMostRows,
                          .has_statuses = true,
                          .has_starts = true,
                          .has_dates = true};

const Format kKalosFormat{.id = TraceFormat::AcmeKalos,
                          .columns = kKalosColumns,
                          .parse = parse_kalos,
                          .submit_column = kSubmit,
                          .start_column = kStart,
                          .durations = Durations::InMostRows,
                          .has_statuses = true,
                          .has_starts = true,
                          .has_dates = true};

const Format kConvertedFormat{.id = TraceFormat::AcmeConverted,
                              .columns = kConvertedColumns,
                              .parse = parse_converted,
                              .submit_column = 1,
                              .start_column = 1,
                              .has_statuses = true};

}  // namespace orrery::traces::acme
