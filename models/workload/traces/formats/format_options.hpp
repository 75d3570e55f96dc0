// models/workload/traces/formats/format_options.hpp -- parameters of single trace formats.
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

struct SacctOptions {
  static constexpr std::string_view kDoc = "How the output of Slurm's sacct is read.";

  bool gpu_types = false;

  template <class V>
  void fields(V& v) {
    v("gpu_types", gpu_types,
      "Pods go only to nodes whose GPU model is the type TYPE of gres/gpu:TYPE; false: to any. "
      "Types "
      "are names that a site chose, such as a100.");
  }
};

// Names of columns in a table, or keys of JSON lines, by their meaning.
struct TraceColumns {
  static constexpr std::string_view kDoc =
      "What the columns of format csv, or the keys of json_lines, are called in the file. Needed "
      "are "
      "submit, gpus, and one of duration, start with end, or default_duration. Others may be "
      "absent, "
      "and further columns are passed over. An empty field says that nothing is known.";

  std::string submit = "submit", duration = "duration", gpus = "gpus", pods = "pods", name = "name",
              user = "user", team = "team", application = "application", priority = "priority",
              status = "status", start = "start", end = "end", requested_time = "requested_time",
              cpus = "cpus", memory = "memory", gpu_model = "gpu_model", node = "node";

  bool operator==(const TraceColumns&) const = default;

  template <class V>
  void fields(V& v) {
    v("submit", submit,
      "When the job was submitted: seconds from any zero or from 1970, or a date and time such as "
      "2020-04-01 12:00:00. All rows must use the same of the two.");
    v("duration", duration, "How long it ran: seconds, or with a unit, as in 90min.");
    v("gpus", gpus, "GPUs of the whole job; 0.25 is a share of one GPU.");
    v("pods", pods,
      "Pods that its GPUs, cores and memory are spread over. Absent: as few as have at most 8 GPUs "
      "each.");
    v("name", name, "Any text of at most 63 bytes. Absent: the number of the row.");
    v("user", user, "Who submitted it.");
    v("team", team, "Whose quota or fair share it counts against; `queues` selects by it.");
    v("application", application, "What it runs: a model, a program, a kind of work.");
    v("priority", priority,
      "low, normal or high; priority_low, priority_normal and priority_high say which number each "
      "is.");
    v("status", status,
      "How it ended: completed, cancelled, failed, timeout, node_fail, running or unknown, in "
      "upper "
      "or lower case.");
    v("start", start, "When its cluster started it, told like submit.");
    v("end", end, "When it ended, told like submit; not read where there is a duration.");
    v("requested_time", requested_time, "The user's limit or estimate, told like duration.");
    v("cpus", cpus, "CPU cores of the whole job.");
    v("memory", memory, "Memory of the whole job: GiB, or with a unit, as in 512GB.");
    v("gpu_model", gpu_model, "The GPU model that it needs; with A|B either will do.");
    v("node", node, "Where it ran, for recorded_nodes; of jobs of one pod.");
  }
};

}  // namespace orrery
