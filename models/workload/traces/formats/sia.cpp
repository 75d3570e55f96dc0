// The workloads of Sia: arrival time, application and number of GPUs. The duration of a job depends
// on the throughput of its application, which is not in the file.
#include "models/workload/traces/formats/format.hpp"

namespace orrery::traces::sia {
namespace {

constexpr std::string_view kColumns[] = {"name", "time", "application", "num_replicas",
                                         "batch_size"};

TraceRow parse_job(CsvReader& row, StringPool& pool) {
  TraceRow out;
  TraceJob& job = out.job;
  identify(row, 0, job);
  job.submit = Time{} + row.seconds(1);
  job.application = interned(row, 2, pool);
  pack_gpus(row, 3, row.whole(3, 0, 100'000), job);
  row.whole(4, 0, 1'000'000'000);
  out.start = job.submit;
  return out;
}

}  // namespace

const Format kFormat{.id = TraceFormat::Sia,
                     .columns = kColumns,
                     .parse = parse_job,
                     .submit_column = 1,
                     .start_column = 1,
                     .durations = Durations::InNoRow};

}  // namespace orrery::traces::sia
