// The job lists of the Tiresias simulator. Times are in seconds.
#include "models/workload/traces/formats/format.hpp"

namespace orrery::traces::tiresias {
namespace {

constexpr int64_t kGpusMax = 100'000;
constexpr std::string_view kColumns[] = {"job_id", "num_gpu", "submit_time", "model_name",
                                         "duration"};

TraceRow parse_job(CsvReader& row, StringPool& pool) {
  TraceRow out;
  TraceJob& job = out.job;
  identify(row, 0, job);
  pack_gpus(row, 1, row.whole(1, 0, kGpusMax), job);
  job.submit = Time{} + row.seconds(2);
  job.application = interned(row, 3, pool);
  job.duration = row.seconds(4);
  out.start = job.submit;
  return out;
}

}  // namespace

const Format kFormat{.id = TraceFormat::Tiresias,
                     .columns = kColumns,
                     .parse = parse_job,
                     .submit_column = 2,
                     .start_column = 2};

}  // namespace orrery::traces::tiresias
