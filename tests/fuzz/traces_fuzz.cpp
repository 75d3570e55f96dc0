// Any bytes as a trace of any format, jobs or requests: an error or rows, never a crash, and no row
// lost without a word.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "models/workload/traces/detect.hpp"
#include "models/workload/traces/format.hpp"
#include "models/workload/traces/request_format.hpp"
#include "models/workload/traces/request_reader.hpp"
#include "models/workload/traces/trace_reader.hpp"

namespace {

using namespace orrery;

void read_jobs(const TraceParams& params, std::string_view text) {
  const auto reader = open_trace_text(params, text);
  Time last;
  int64_t jobs = 0;
  while (const TraceJob* job = reader->next()) {
    if (job->submit < last || job->duration.ns < 0 || job->pods < 1) std::abort();
    if (job->gpu_milli < 1 || job->gpu_milli > 1000 || job->gpus() < 0) std::abort();
    if (job->cpu_milli_per_pod < 0 || job->memory_per_pod.count < 0) std::abort();
    if (job->name.view().empty()) std::abort();
    last = job->submit;
    ++jobs;
  }
  const TraceCounts counts = reader->counts();
  if (jobs != counts.delivered) std::abort();
  // Whatever was skipped or left out is told.
  if (counts.skipped + counts.left_out > 0 && reader->notes().empty()) std::abort();
  if (reader->error()) return;
  const int64_t told = counts.joined + counts.skipped + counts.left_out + counts.filtered();
  if (counts.rows != told + counts.delivered / params.copies) std::abort();
}

void read_requests(RequestFormat format, unsigned options, std::string_view text) {
  const traces::RequestLayout* const layout = traces::find_request_layout(text, format);
  RequestTraceParams params;
  params.file = "fuzz";
  params.format = format;
  params.lenient = (options & 1U) != 0;
  if (layout != nullptr) {
    if ((options & 2U) != 0) params.window_start = layout->has_dates ? "2023-11-16" : "2";
    if ((options & 4U) != 0) params.window_end = layout->has_dates ? "2023-11-17" : "1000";
    if ((options & 32U) != 0 && layout->has_statuses) params.statuses = {TraceStatus::Completed};
    if ((options & 64U) != 0 && layout->has_groups) params.groups = {"G0"};
  }
  params.copies = (options & 8U) != 0 ? 3 : 1;
  params.time_scale = (options & 16U) != 0 ? 0.5 : 1;
  params.requests_max = 100'000;  // a byte more in a rate is a second more of fuzzing
  const auto reader = open_requests_text(params, text);
  Time last;
  while (const RequestRow* row = reader->next()) {
    if (row->arrival < last || row->input_tokens < 0 || row->output_tokens < 0) std::abort();
    last = row->arrival;
  }
  const RequestCounts counts = reader->counts();
  if (counts.skipped > 0 && reader->notes().empty()) std::abort();
  if (reader->error() || counts.delivered == params.requests_max) return;
  if (reader->format() == RequestFormat::GenAiRates) return;
  const int64_t told = counts.skipped + counts.left_out + counts.filtered();
  if (counts.rows != told + counts.delivered / params.copies) std::abort();
}

// Parameters that have an effect on the format; others would only be refused.
void set_params(TraceParams& params, unsigned options, unsigned filters, std::string_view text) {
  const traces::Format* const format = traces::find_format(text, params.format);
  if (format == nullptr) return;
  if (format->has_processors) {
    params.one_pod = (options & 2U) != 0;
    params.processors = static_cast<TraceProcessors>((options >> 2U) & 1U);
    params.overruns = static_cast<TraceOverruns>((options >> 3U) & 1U);
  }
  if ((options & 16U) != 0 && format->durations != traces::Durations::InEveryRow) {
    params.default_duration = Duration{1'000'000'000};
  }
  params.recorded_nodes = format->has_nodes && (options & 2U) != 0;
  if ((filters & 1U) != 0) params.window_start = format->has_dates ? "2020-04-02" : "100";
  if ((filters & 2U) != 0) params.window_end = format->has_dates ? "2020-04-03" : "1000";
  if ((filters & 4U) != 0 && format->has_queues) params.queues = {"1"};
  if ((filters & 8U) != 0 && format->has_gpus) params.gpus_max = 16;
  if ((filters & 16U) != 0 && format->has_gpus) params.gpus_min = 2;
  if ((filters & 32U) != 0 && format->has_statuses) {
    params.statuses = {TraceStatus::Completed, TraceStatus::Unknown};
  }
  params.gpu_jobs_only = format->has_gpus && (filters & 64U) != 0;
  if ((filters & 128U) != 0 && format->has_starts) params.arrive_at = TraceArrival::Start;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 3) return 0;
  // The first byte picks the format, the next two the options.
  constexpr size_t kFormats = enum_names(TraceFormat{}).size();
  constexpr size_t kRequests = enum_names(RequestFormat{}).size();
  const size_t format = data[0] % (kFormats + kRequests);
  const unsigned options = data[1];
  const std::string_view text{reinterpret_cast<const char*>(data) + 3, size - 3};
  if (format >= kFormats) {
    read_requests(static_cast<RequestFormat>(format - kFormats), options, text);
    return 0;
  }
  TraceParams params;
  params.file = "fuzz";
  params.format = static_cast<TraceFormat>(format);
  params.lenient = (options & 1U) != 0;
  params.warm_start = (options & 32U) != 0;
  params.copies = (options & 64U) != 0 ? 3 : 1;
  params.sort = (options & 128U) != 0 ? TraceSort::All : TraceSort::Auto;
  set_params(params, options, data[2], text);
  read_jobs(params, text);
  return 0;
}
