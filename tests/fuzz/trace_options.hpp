// tests/fuzz/trace_options.hpp -- the parameters encoded in the option bytes of a seed of
// traces_fuzz.
#pragma once

#include "models/workload/traces/requests/request_reader.hpp"
#include "tests/fuzz/trace_input.hpp"

namespace orrery::fuzz {

// Bits of TraceInput::more. kKeepFrame: the frame of a native trace (checksums, counts) is not made
// valid. kValidate: a trace of jobs is also written to a file and validated.
constexpr unsigned kKeepFrame = 64;
constexpr unsigned kValidate = 128;

// Sets only those parameters that the format allows. The reader would reject other parameters at
// once.
inline void set_filters(TraceParams& params, const TraceInput& input,
                        const traces::Format& format) {
  const unsigned filters = input.filters;
  if ((filters & 1U) != 0) params.window_start = format.has_dates ? "2020-04-02" : "100";
  if ((filters & 2U) != 0) params.window_end = format.has_dates ? "2020-04-03" : "1000";
  if ((filters & 4U) != 0 && format.has_queues) params.queues = {"1"};
  if ((filters & 8U) != 0 && format.has_gpus) params.gpus_max = 16;
  if ((filters & 16U) != 0 && format.has_gpus) params.gpus_min = 2;
  if ((filters & 32U) != 0 && format.has_statuses) {
    params.statuses = {TraceStatus::Completed, TraceStatus::Unknown};
  }
  params.gpu_jobs_only = format.has_gpus && (filters & 64U) != 0;
  if ((filters & 128U) != 0 && format.has_starts) params.arrive_at = TraceArrival::Start;
}

// `format` is null if the format of the text is unknown.
inline TraceParams job_params(const TraceInput& input, const traces::Format* format,
                              const TraceFolder& folder) {
  const unsigned options = input.options, more = input.more;
  TraceParams params;
  params.file = folder.file("fuzz");
  params.format = input.job_format();
  params.lenient = (options & 1U) != 0;
  params.warm_start = (options & 32U) != 0;
  params.copies = (options & 64U) != 0 ? 3 : 1;
  params.sort = (options & 128U) != 0 ? TraceSort::All : TraceSort::Auto;
  params.time_scale = (more & 8U) != 0 ? 0.5 : 1;
  params.jobs_max = (more & 16U) != 0 ? 2 : 0;
  if (format == nullptr) return params;
  if (format->has_processors) {
    params.swf.one_pod = (options & 2U) != 0;
    params.swf.processors = static_cast<TraceProcessors>((options >> 2U) & 1U);
    params.swf.overruns = static_cast<TraceOverruns>((options >> 3U & 1U) + (options >> 2U & 1U));
  }
  if ((options & 16U) != 0) params.default_duration = Duration{1'000'000'000};
  params.recorded_nodes = format->has_nodes && (options & 2U) != 0;
  params.pai.measured = format->has_sensors && (more & 1U) != 0;
  if (format->has_steps && (more & 2U) != 0) params.gavel.throughputs = folder.file("named.json");
  if (format->has_steps && (more & 4U) != 0) params.gavel.gpu = "k80";
  params.sacct.gpu_types = format->has_gpu_types && (more & 1U) != 0;
  if (format->has_own_columns && (more & 2U) != 0) params.columns.team = "user";
  params.cancelled_unstarted = format->has_own_columns && (more & 4U) != 0;
  if (format->has_pending) params.openb.pending_jobs = (more & 32U) == 0;
  set_filters(params, input, *format);
  return params;
}

inline RequestTraceParams request_params(const TraceInput& input) {
  const unsigned options = input.options;
  RequestTraceParams params;
  params.file = "fuzz";
  params.format = input.request_format();
  params.lenient = (options & 1U) != 0;
  if (const auto* const layout = traces::find_request_layout(input.text, params.format)) {
    if ((options & 2U) != 0) params.window_start = layout->has_dates ? "2023-11-16" : "2";
    if ((options & 4U) != 0) params.window_end = layout->has_dates ? "2023-11-17" : "1000";
    if ((options & 32U) != 0 && layout->has_statuses) params.statuses = {TraceStatus::Completed};
    if ((options & 64U) != 0 && layout->has_groups) params.groups = {"G0"};
  }
  params.copies = (options & 8U) != 0 ? 3 : 1;
  params.time_scale = (options & 16U) != 0 ? 0.5 : 1;
  params.requests_max = 100'000;  // a trace of rates could yield more, which would take seconds
  return params;
}

// An input of traces_fuzz, ready to be read: its tables are written and its parameters are set. The
// frame of a native trace is made valid, unless kKeepFrame is set.
struct ReadyTrace {
  ReadyTrace(std::string_view bytes, TraceFolder& folder) : input{bytes} {
    if ((input.more & kKeepFrame) == 0) fit_native_frame(input.text);
    if (input.is_requests()) {
      requests = request_params(input);
      return;
    }
    format = traces::find_format(input.text, input.job_format());
    folder.set_tables(format, input.text);
    jobs = job_params(input, format, folder);
  }

  TraceInput input;
  const traces::Format* format = nullptr;  // null for requests and for an unknown format
  TraceParams jobs;
  RequestTraceParams requests;
};

}  // namespace orrery::fuzz
