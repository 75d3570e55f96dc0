// models/workload/traces/formats/format_options.hpp -- parameters that one trace format alone has.
#pragma once

#include <string>
#include <string_view>

#include "models/workload/traces/formats/trace_format.hpp"
#include "sim/config/options.hpp"

namespace orrery {

struct SwfOptions {
  static constexpr std::string_view kDoc = "How a log of the Parallel Workloads Archive is read.";

  TraceProcessors processors = TraceProcessors::Requested;
  bool one_pod = false;
  TraceOverruns overruns = TraceOverruns::Keep;

  template <class V>
  void fields(V& v) {
    v("processors", processors,
      "The size of a job: the processors it requested or those it was given.");
    v("one_pod", one_pod,
      "A job is one pod of as many cores as it has processors; false: one pod per processor.");
    v("overruns", overruns,
      "Jobs that ran longer than they requested. keep: run time and request stay as recorded. cut: "
      "they complete when the requested time is over. raise: the request becomes the run time, as "
      "in pyss and Alea. A run time of -1 is replaced by default_duration first; without one the "
      "row is left out. To let overrunning jobs fail, use keep and "
      "`workload.controller.overruns: kill`.");
  }
};

struct GavelOptions {
  static constexpr std::string_view kDoc = "How the steps of a Gavel trace become durations.";

  std::string throughputs{};
  std::string gpu = "v100";

  template <class V>
  void fields(V& v) {
    v("throughputs", throughputs,
      "JSON of steps per second by GPU and job type. Empty: simulation_throughputs.json, plain or "
      "packed, beside the trace or a folder above.");
    v("gpu", gpu, "The GPU of that table that the durations are for.");
  }
};

struct PaiOptions {
  static constexpr std::string_view kDoc = "How the Alibaba PAI log is read.";

  bool measured = false;

  template <class V>
  void fields(V& v) {
    v("measured", measured,
      "Pods ask for what sensors saw them use instead of what was planned; pai_sensor_table.csv "
      "must be beside the trace.");
  }
};

struct OpenbOptions {
  static constexpr std::string_view kDoc = "How an openb list of pods is read.";

  bool pending_jobs = true;

  template <class V>
  void fields(V& v) {
    v("pending_jobs", pending_jobs,
      "Replay pods that were never started, for as long as they waited; false: leave out.");
  }
};

}  // namespace orrery
