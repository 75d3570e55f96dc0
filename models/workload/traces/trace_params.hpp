// models/workload/traces/trace_params.hpp -- which trace to replay, and which part of it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/options.hpp"

namespace orrery {

// Auto: by the names in the header.
enum class TraceFormat : uint8_t { Auto, Openb, Helios, HeliosDerived, HeliosCanonical };
constexpr std::array<std::string_view, 5> enum_names(TraceFormat) {
  return {"auto", "openb", "helios", "helios_derived", "helios_canonical"};
}

// When a job enters the run: when it was submitted, or when its cluster started it.
enum class TraceArrival : uint8_t { Submit, Start };
constexpr std::array<std::string_view, 2> enum_names(TraceArrival) { return {"submit", "start"}; }

// Window: rows may be out of order by a few thousand rows. All: the whole file is read before the
// first job, 200 bytes a job. Auto: all for openb, whose variants are not sorted, else window.
enum class TraceSort : uint8_t { Auto, Window, All };
constexpr std::array<std::string_view, 3> enum_names(TraceSort) {
  return {"auto", "window", "all"};
}

struct TraceParams {
  static constexpr std::string_view kDoc = "Replays jobs recorded on a real cluster.";

  std::string file{};
  TraceFormat format = TraceFormat::Auto;
  std::vector<std::string> queues{};
  std::string window_start{};
  std::string window_end{};
  bool warm_start = true;
  bool gpu_jobs_only = false;
  bool pending_jobs = true;
  TraceArrival arrive_at = TraceArrival::Submit;
  TraceSort sort = TraceSort::Auto;
  double time_scale = 1;
  int64_t jobs_max = 0;

  template <class V>
  void fields(V& v) {
    v("file", file, "The trace, plain or gzip.", Required{},
      Example{"../shared/traces/helios/venus_gpu_jobs_48hclamp.csv.gz"});
    v("format", format, "Layout of the file; auto goes by the names in its header.");
    v("queues", queues, "Replay only jobs of these queues (virtual clusters); empty: all.");
    v("window_start", window_start,
      "Where the replay begins: a date and time for a trace with dates, else seconds as the trace "
      "counts them. Empty: the first day of a trace with dates; the first deletion in a "
      "warm-started openb list, which holds only pods that lived until then; else 0.",
      Example{"2020-09-01"});
    v("window_end", window_end, "Jobs that arrive then or later are left out. Empty: none.",
      Example{"2020-09-27 00:00:00"});
    v("warm_start", warm_start,
      "Jobs from before the window that were alive at its start arrive there, running ones with "
      "the duration they had left. Otherwise they are left out.");
    v("gpu_jobs_only", gpu_jobs_only, "Leave out jobs without GPUs.");
    v("pending_jobs", pending_jobs,
      "Replay openb pods that were never started, for as long as they waited; false: leave out.");
    v("arrive_at", arrive_at, "Jobs arrive when they were submitted, or when they were started.");
    v("sort", sort,
      "How far rows may be out of order: window is 4,096 rows, all reads the whole file first "
      "(200 bytes a job), auto is all for openb and window for the others.");
    v("time_scale", time_scale,
      "Factor on the times between arrivals, not on durations; 0.5 doubles the load.",
      Range{0.001, 1000.0});
    v("jobs_max", jobs_max, "Stop after so many jobs; 0: all.", Unit{"jobs"},
      Range{int64_t{0}, int64_t{1'000'000'000}});
  }
};

}  // namespace orrery
