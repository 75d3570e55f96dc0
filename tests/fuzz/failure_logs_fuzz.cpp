// Reads any bytes as a failure log of any format. The reader must return an error or outages in
// order of time, and must not crash.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "models/faults/logs/failure_log.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace orrery;
  if (size < 1) return 0;
  const unsigned options = data[0];  // bits 0-1: format, 2: lenient, 3: window_start, 4: window_end
  FailureLogParams params;
  params.file = "fuzz";
  params.format = static_cast<FailureLogFormat>(options & 3U);
  params.lenient = (options & 4U) != 0;
  if ((options & 8U) != 0) params.window_start = "2005-06-21";
  if ((options & 16U) != 0) params.window_end = "2005-06-22 01:00:00";
  const FailureLog log =
      read_failure_log_text(params, {reinterpret_cast<const char*>(data) + 1, size - 1});
  if (log.error.empty() && log.outages.empty()) std::abort();
  Time last;
  for (const Outage& outage : log.outages) {
    if (!log.error.empty()) break;
    if (outage.start < last || outage.length < Outage::kUnknown) std::abort();
    if (outage.node >= log.nodes.size() || outage.cause >= log.causes.size()) std::abort();
    last = outage.start;
  }
  return 0;
}
