// Tables derived from the Philly log: those of Pollux, Chronus and ElasticFlow.
#include <algorithm>

#include "models/workload/traces/formats/format.hpp"

namespace orrery::traces {
namespace {

constexpr int64_t kGpusMax = 100'000;
constexpr int64_t kMinute = 60;

constexpr std::string_view kPolluxColumns[] = {"timestamp", "duration", "num_gpus", "gpu_time",
                                               "cluster"};

// The table has no names of jobs. The GPU time is the product of the two columns before it, and is
// not read.
TraceRow parse_pollux(CsvReader& row, StringPool& pool) {
  TraceRow out;
  TraceJob& job = out.job;
  number_by_row(row.row(), job);
  job.submit = row.date_time(0);
  job.duration = row.seconds(1);
  pack_gpus(row, 2, row.whole(2, 0, kGpusMax), job);
  job.queue = interned(row, 4, pool);
  out.start = job.submit;
  return out;
}

constexpr std::string_view kChronusColumns[] = {
    "job_id",   "user",     "num_gpu",          "submit_time",       "iterations",  "model_name",
    "duration", "interval", "expect_time_list", "expect_value_list", "best_effort", "job_type"};
enum Chronus : size_t {
  kId,
  kUser,
  kGpus,
  kSubmit,
  kIterations,
  kModel,
  kDuration,
  kInterval,
  kExpectTimes,
  kExpectValues,
  kBestEffort,
  kJobType
};
constexpr Word<TracePriority> kJobTypes[] = {
    {"strict", TracePriority::High}, {"soft", TracePriority::Normal}, {"best", TracePriority::Low}};

// All times are in minutes. The column `user` holds a virtual cluster that was drawn at random, so
// it is not used as the queue. If a job has several soft deadlines, the first deadline is used.
// Best-effort jobs have no deadline.
TraceRow parse_chronus(CsvReader& row, StringPool& pool) {
  TraceRow out;
  TraceJob& job = out.job;
  identify(row, kId, job);
  job.user = interned(row, kUser, pool);
  pack_gpus(row, kGpus, row.whole(kGpus, 0, kGpusMax), job);
  if (job.gpus() == 0) row.findings().remark("the job has no GPUs");
  const auto minutes = [&](size_t column) {
    const Duration value = row.seconds(column);
    if (value.ns > Duration::max().ns / kMinute) row.wrong(column, "fewer minutes");
    return Duration{row.row_ok() ? value.ns * kMinute : 0};
  };
  job.submit = Time{} + minutes(kSubmit);
  job.duration = minutes(kDuration);
  job.application = interned(row, kModel, pool);
  job.priority = row.word<TracePriority>(kJobType, kJobTypes);
  const std::string_view deadlines = row.text(kExpectTimes);
  if (job.priority != TracePriority::Low) {
    const auto first = parse_seconds(deadlines.substr(0, deadlines.find('-')));
    if (!first || first->ns < 0 || first->ns > Duration::max().ns / kMinute) {
      row.wrong(kExpectTimes, "minutes with '-' between them");
    } else {
      job.deadline = *first * kMinute;
    }
  }
  out.start = job.submit;
  return out;
}

constexpr std::string_view kElasticFlowColumns[] = {
    "job_id",     "submit_time", "real_iteration", "model_name", "ddl",
    "batch_size", "num_gpu",     "real_duration",  "duration",   "iteration"};

// Column ddl is an absolute time, as submit_time is.
TraceRow parse_elasticflow(CsvReader& row, StringPool& pool) {
  TraceRow out;
  TraceJob& job = out.job;
  identify(row, 0, job);
  job.submit = Time{} + row.seconds(1);
  job.application = interned(row, 3, pool);
  const Time deadline = Time{} + row.seconds(4);
  if (deadline < job.submit) row.wrong(4, "a time not before submit_time");
  job.deadline = deadline - job.submit;
  pack_gpus(row, 6, row.whole(6, 0, kGpusMax), job);
  job.duration = row.seconds(8);
  out.start = job.submit;
  return out;
}

}  // namespace

const Format kPhillyPolluxFormat{.id = TraceFormat::PhillyPollux,
                                 .columns = kPolluxColumns,
                                 .parse = parse_pollux,
                                 .submit_column = 0,
                                 .start_column = 0,
                                 .has_queues = true,
                                 .has_dates = true,
                                 .is_unsorted = true};

const Format kChronusFormat{.id = TraceFormat::Chronus,
                            .columns = kChronusColumns,
                            .parse = parse_chronus,
                            .submit_column = kSubmit,
                            .start_column = kSubmit,
                            .is_unsorted = true};

const Format kElasticFlowFormat{.id = TraceFormat::ElasticFlow,
                                .columns = kElasticFlowColumns,
                                .parse = parse_elasticflow,
                                .submit_column = 1,
                                .start_column = 1};

}  // namespace orrery::traces
