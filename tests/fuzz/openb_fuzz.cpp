// Reads any bytes as an openb pod list, then as a node list. The readers must return an error or
// rows, and must not crash.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "models/workload/traces/tables/openb_nodes.hpp"
#include "models/workload/traces/trace_reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace orrery;
  if (size == 0) return 0;
  // The first byte picks the options.
  const unsigned options = data[0];
  const std::string_view text{reinterpret_cast<const char*>(data) + 1, size - 1};
  TraceParams params;
  params.file = "fuzz";
  params.format = (options & 1U) != 0 ? TraceFormat::Openb : TraceFormat::Auto;
  params.warm_start = (options & 2U) != 0;
  params.arrive_at = (options & 4U) != 0 ? TraceArrival::Start : TraceArrival::Submit;
  params.sort = static_cast<TraceSort>((options >> 3U) % 3);
  params.time_scale = (options & 32U) != 0 ? 1000 : 1;
  const auto reader = open_trace_text(params, text);
  Time last;
  while (const TraceJob* job = reader->next()) {
    if (job->submit < last || job->duration.ns < 0 || job->pods < 1) std::abort();
    if (job->gpu_milli < 1 || job->gpu_milli > 1000 || job->gpus() < 0) std::abort();
    last = job->submit;
  }
  parse_openb_nodes(text, "fuzz");
  return 0;
}
