#include <array>

#include "models/workload/traces/formats/format.hpp"

namespace orrery::traces::helios {
namespace {

constexpr int64_t kGpusMax = 1'000'000;
constexpr int64_t kPodsMax = 100'000;
constexpr int64_t kCpusMax = 100'000'000;

constexpr Word<TraceStatus> kStates[] = {
    {"COMPLETED", TraceStatus::Completed}, {"CANCELLED", TraceStatus::Cancelled},
    {"CANCELED", TraceStatus::Cancelled},  {"FAILED", TraceStatus::Failed},
    {"TIMEOUT", TraceStatus::Timeout},     {"NODE_FAIL", TraceStatus::NodeFail},
    {"SUSPENDED", TraceStatus::Unknown},
};

constexpr std::string_view kNativeColumns[] = {"job_id",     "user",     "vc",    "gpu_num",
                                               "cpu_num",    "node_num", "state", "submit_time",
                                               "start_time", "end_time"};
enum Native : size_t { kId, kUser, kVc, kGpus, kCpus, kNodes, kState, kSubmit, kStart, kEnd };

// The columns `duration` and `queue` (the wait) follow from the three times, and are not read.
TraceRow parse_native(CsvReader& row, StringPool& pool) {
  TraceRow out;
  TraceJob& job = out.job;
  identify(row, kId, job);
  job.user = interned(row, kUser, pool);
  job.queue = interned(row, kVc, pool);
  const int64_t gpus = row.integer(kGpus, 0, kGpusMax);
  const int64_t cpus = row.integer(kCpus, 0, kCpusMax);
  const int64_t pods = row.integer(kNodes, 1, kPodsMax);
  spread_gpus(row, kGpus, gpus, pods, job);
  job.cpu_milli_per_pod = (cpus * 1000 + pods - 1) / pods;
  job.status = row.word<TraceStatus>(kState, kStates);
  job.submit = row.date_time(kSubmit);
  out.start = row.date_time(kStart);
  const Time end = row.date_time(kEnd);
  if (out.start < job.submit) row.wrong(kStart, "a time not before submit_time");
  if (end < out.start) row.wrong(kEnd, "a time not before start_time");
  job.duration = end - out.start;
  job.wait_recorded = out.start - job.submit;
  return out;
}

constexpr std::string_view kDerivedColumns[] = {"job_id", "arrival_s", "service_sec", "gpu_count"};

TraceRow parse_derived(CsvReader& row, StringPool&) {
  TraceRow out;
  TraceJob& job = out.job;
  identify(row, 0, job);
  job.submit = Time{} + row.seconds(1);
  job.duration = row.seconds(2);
  const int64_t gpus = row.integer(3, 1, kGpusMax);
  pack_gpus(row, 3, gpus, job);
  out.start = job.submit;
  return out;
}

constexpr std::string_view kCanonicalColumns[] = {"job_id",      "user",       "tenant",
                                                  "submit_time", "num_chips",  "chip_type",
                                                  "num_nodes",   "duration_s", "final_status"};

TraceRow parse_canonical(CsvReader& row, StringPool& pool) {
  constexpr int64_t kSubmitMax = 9'200'000'000'000'000;  // microseconds
  TraceRow out;
  TraceJob& job = out.job;
  identify(row, 0, job);
  job.user = interned(row, 1, pool);
  job.queue = interned(row, 2, pool);
  job.submit = Time{row.integer(3, 0, kSubmitMax) * 1000};
  const int64_t gpus = row.integer(4, 0, kGpusMax);
  job.gpu_models = interned(row, 5, pool);
  spread_gpus(row, 4, gpus, row.integer(6, 1, kPodsMax), job);
  job.duration = row.seconds(7);
  job.status = row.word<TraceStatus>(8, kStates);
  out.start = job.submit;
  return out;
}

}  // namespace

const Format kFormat{.id = TraceFormat::Helios,
                     .columns = kNativeColumns,
                     .parse = parse_native,
                     .submit_column = kSubmit,
                     .start_column = kStart,
                     .has_queues = true,
                     .has_statuses = true,
                     .has_starts = true,
                     .has_dates = true};

const Format kDerivedFormat{.id = TraceFormat::HeliosDerived,
                            .columns = kDerivedColumns,
                            .parse = parse_derived,
                            .submit_column = 1,
                            .start_column = 1};

const Format kCanonicalFormat{.id = TraceFormat::HeliosCanonical,
                              .columns = kCanonicalColumns,
                              .parse = parse_canonical,
                              .submit_column = 3,
                              .start_column = 3,
                              .has_queues = true,
                              .has_statuses = true,
                              .has_comments = true};

}  // namespace orrery::traces::helios
