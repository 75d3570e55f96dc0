// Reads any bytes as a Helios log of any format. The reader must return an error or jobs, and must
// not crash.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "models/workload/traces/trace_reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace orrery;
  if (size == 0) return 0;
  // The first byte picks the options.
  const unsigned options = data[0];
  const std::string_view text{reinterpret_cast<const char*>(data) + 1, size - 1};
  TraceParams params;
  params.file = "fuzz";
  constexpr TraceFormat kFormats[] = {TraceFormat::Auto, TraceFormat::Helios,
                                      TraceFormat::HeliosDerived, TraceFormat::HeliosCanonical};
  params.format = kFormats[options % 4];
  params.warm_start = (options & 4U) != 0;
  params.gpu_jobs_only = (options & 8U) != 0;
  params.sort = (options & 16U) != 0 ? TraceSort::All : TraceSort::Window;
  if ((options & 32U) != 0) params.queues = {"vcA"};
  if ((options & 64U) != 0) params.window_start = (options & 128U) != 0 ? "2020-04-01" : "100";
  const auto reader = open_trace_text(params, text);
  Time last;
  while (const TraceJob* job = reader->next()) {
    if (job->submit < last || job->duration.ns < 0 || job->pods < 1) std::abort();
    if (job->gpu_milli < 1 || job->gpu_milli > 1000 || job->gpus() < 0) std::abort();
    last = job->submit;
  }
  return 0;
}
