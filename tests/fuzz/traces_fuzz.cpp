// Reads any bytes as a trace of jobs or of requests, in any format. The reader must not crash, must
// return an error or rows, and must report every row that it leaves out.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

#include "models/workload/traces/requests/request_reader.hpp"
#include "models/workload/traces/trace_reader.hpp"
#include "tests/fuzz/trace_options.hpp"

namespace {

using namespace orrery;

void read_jobs(const TraceParams& params, std::string_view text) {
  const auto reader = open_trace_text(params, text);
  Time last;
  int64_t jobs = 0;
  while (const TraceJob* job = reader->next()) {
    if (job->submit < last || job->duration.ns < 0 || job->pods < 1) std::abort();
    if (job->gpu_milli < 1 || job->gpu_milli > 1000 || job->gpus() < 0) std::abort();
    if (job->cpu_milli() < 0 || job->gpu_milli_total() < 0) std::abort();
    if (job->cpu_milli_per_pod < 0 || job->memory_per_pod.count < 0) std::abort();
    if (job->name.view().empty()) std::abort();
    last = job->submit;
    ++jobs;
  }
  const TraceCounts counts = reader->counts();
  if (jobs != counts.delivered) std::abort();
  // Facts and side files are available whether the trace ended or failed.
  for (const auto& [key, value] : reader->facts()) {
    if (key.empty() && reader->format() != TraceFormat::Native) std::abort();
  }
  for (const std::string& file : reader->side_files()) {
    if (file.empty()) std::abort();
  }
  if (counts.skipped > 0 && reader->skipped_examples().empty()) std::abort();
  // If rows were skipped or left out, a note must say so.
  if (counts.skipped + counts.left_out > 0 && reader->notes().empty()) std::abort();
  if (reader->error() || (params.jobs_max > 0 && jobs == params.jobs_max)) return;
  const int64_t accounted = counts.joined + counts.skipped + counts.left_out + counts.filtered();
  if (counts.rows != accounted + counts.delivered / params.copies) std::abort();
}

// Writes the text to a file and validates it. The report lists at most kErrorsMax mistakes.
void validate(const TraceParams& params, std::string_view text) {
  std::ofstream{params.file, std::ios::binary} << text;
  const TraceReport report = validate_trace(params);
  if (report.errors.size() > TraceReport::kErrorsMax) std::abort();
}

void read_requests(const RequestTraceParams& params, std::string_view text) {
  const auto reader = open_requests_text(params, text);
  Time last;
  while (const RequestRow* row = reader->next()) {
    if (row->arrival < last || row->input_tokens < 0 || row->output_tokens < 0) std::abort();
    last = row->arrival;
  }
  const RequestCounts counts = reader->counts();
  for (const auto& [key, value] : reader->facts()) {
    if (key.empty() && reader->format() != RequestFormat::Native) std::abort();
  }
  if (counts.skipped > 0 && reader->notes().empty()) std::abort();
  if (counts.skipped > 0 && reader->skipped_examples().empty()) std::abort();
  if (reader->error() || counts.delivered == params.requests_max) return;
  if (reader->format() == RequestFormat::GenAiRates) return;
  const int64_t accounted = counts.skipped + counts.left_out + counts.filtered();
  if (counts.rows != accounted + counts.delivered / params.copies) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static fuzz::TraceFolder folder;
  if (size < fuzz::TraceInput::kHead) return 0;
  const fuzz::ReadyTrace trace{{reinterpret_cast<const char*>(data), size}, folder};
  if (trace.input.is_requests()) {
    read_requests(trace.requests, trace.input.text);
  } else {
    read_jobs(trace.jobs, trace.input.text);
    if ((trace.input.more & fuzz::kValidate) != 0) validate(trace.jobs, trace.input.text);
  }
  return 0;
}
