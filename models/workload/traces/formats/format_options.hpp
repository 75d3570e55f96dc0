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
      "A job is one pod with a core for each processor; false: one pod per processor.");
    v("overruns", overruns,
      "Jobs that ran longer than they requested. keep: run time and request stay as recorded. cut: "
      "they complete when the requested time is over. raise: the request becomes the run time, as "
      "in pyss and Alea. A run time of -1 is replaced by default_duration first; without one the "
      "row is left out. To let overrunning jobs fail, use keep and "
      "`workload.controller.overruns: kill`.");
  }
};

struct GavelOptions {
  static constexpr std::string_view kDoc = "How steps of a Gavel trace are converted to durations.";

  std::string throughputs{};
  std::string gpu = "v100";

  template <class V>
  void fields(V& v) {
    v("throughputs", throughputs,
      "JSON of steps per second by GPU and job type. Empty: simulation_throughputs.json, plain or "
      "packed, in the trace's folder or its parent folder.");
    v("gpu", gpu, "The GPU of that table for which durations are computed.");
  }
};

struct PaiOptions {
  static constexpr std::string_view kDoc = "How the Alibaba PAI log is read.";

  bool measured = false;

  template <class V>
  void fields(V& v) {
    v("measured", measured,
      "Pods request their measured use instead of the planned amounts; pai_sensor_table.csv must "
      "be beside the trace.");
  }
};

struct OpenbOptions {
  static constexpr std::string_view kDoc = "How an openb list of pods is read.";

  bool pending_jobs = true;

  template <class V>
  void fields(V& v) {
    v("pending_jobs", pending_jobs,
      "Replay pods that never started, with their wait as duration; false: leave them out.");
  }
};

struct SacctOptions {
  static constexpr std::string_view kDoc = "How the output of Slurm's sacct is read.";

  bool gpu_types = false;

  template <class V>
  void fields(V& v) {
    v("gpu_types", gpu_types,
      "Pods may only use nodes whose GPU model is the type TYPE of gres/gpu:TYPE; false: any node. "
      "Types are names chosen by a site, such as a100.");
  }
};

// For each property of a job: the name of its column in a table, or of its key in JSON lines.
struct TraceColumns {
  static constexpr std::string_view kDoc =
      "Names of the columns of format csv, or of the keys of json_lines, in the file. Required "
      "are submit, gpus and either duration or both start and end. With the parameter "
      "default_duration, submit and gpus suffice. Others may be absent, and further columns are "
      "skipped. An empty field means unknown.";

  std::string submit = "submit", duration = "duration", gpus = "gpus", pods = "pods", name = "name",
              user = "user", team = "team", application = "application", priority = "priority",
              status = "status", start = "start", end = "end", requested_time = "requested_time",
              cpus = "cpus", memory = "memory", gpu_model = "gpu_model", node = "node";

  bool operator==(const TraceColumns&) const = default;

  template <class V>
  void fields(V& v) {
    v("submit", submit,
      "When the job was submitted: seconds from any zero or from 1970, or a date and time such as "
      "2020-04-01 12:00:00. All rows must have the same format.");
    v("duration", duration, "Its duration: seconds, or with a unit, as in 90min.");
    v("gpus", gpus, "GPUs of the whole job; 0.25 is a share of one GPU.");
    v("pods", pods,
      "Pods over which its GPUs, cores and memory are spread. Absent: as few as possible with at "
      "most 8 GPUs each.");
    v("name", name, "Any text of at most 63 bytes. Absent: the number of the row.");
    v("user", user, "Who submitted it.");
    v("team", team, "Its team for quotas and fair shares; `queues` selects by it.");
    v("application", application, "Its application: a model, a program, a kind of work.");
    v("priority", priority,
      "low, normal or high; priority_low, priority_normal and priority_high set their numbers.");
    v("status", status,
      "Its outcome: completed, cancelled, failed, timeout, node_fail, running or unknown, in upper "
      "or lower case.");
    v("start", start, "When its cluster started it, in the format of submit.");
    v("end", end, "When it ended, in the format of submit; not read if there is a duration.");
    v("requested_time", requested_time, "The user's limit or estimate, in the format of duration.");
    v("cpus", cpus, "CPU cores of the whole job.");
    v("memory", memory, "Memory of the whole job: GiB, or with a unit, as in 512GB.");
    v("gpu_model", gpu_model, "The required GPU model; A|B allows both.");
    v("node", node, "Its node, for recorded_nodes; only for jobs of one pod.");
  }
};

}  // namespace orrery
