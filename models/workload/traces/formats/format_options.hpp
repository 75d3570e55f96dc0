// models/workload/traces/formats/format_options.hpp -- parameters for particular trace formats.
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
      "The size of a job. requested: the processors that the job requested; allocated: the "
      "processors that the job was given.");
    v("one_pod", one_pod,
      "true: a job is one pod with a core for each processor. false: it has one pod per "
      "processor.");
    v("overruns", overruns,
      "Jobs that ran longer than they requested. keep: run time and request stay as recorded. cut: "
      "the jobs complete when the requested time is over. raise: the requested time is raised to "
      "the run time, as in pyss and Alea. A run time of -1 is first replaced by default_duration. "
      "To let overrunning jobs fail, use keep and `workload.controller.overruns: kill`.");
  }
};

struct GavelOptions {
  static constexpr std::string_view kDoc = "How steps of a Gavel trace are converted to durations.";

  std::string throughputs{};
  std::string gpu = "v100";

  template <class V>
  void fields(V& v) {
    v("throughputs", throughputs,
      "JSON file with steps per second by GPU and job type. Empty: simulation_throughputs.json, "
      "plain or compressed, in the trace's folder or its parent folder.");
    v("gpu", gpu, "GPU model whose throughputs give the durations of jobs.");
  }
};

struct PaiOptions {
  static constexpr std::string_view kDoc = "How the Alibaba PAI log is read.";

  bool measured = false;

  template <class V>
  void fields(V& v) {
    v("measured", measured,
      "true: pods request their measured use instead of the planned amounts. pai_sensor_table.csv "
      "must be beside the trace.");
  }
};

struct OpenbOptions {
  static constexpr std::string_view kDoc = "How an openb list of pods is read.";

  bool pending_jobs = true;

  template <class V>
  void fields(V& v) {
    v("pending_jobs", pending_jobs,
      "true: replay pods that never started; their duration is their recorded wait. false: leave "
      "them out.");
  }
};

struct SacctOptions {
  static constexpr std::string_view kDoc = "How the output of Slurm's sacct is read.";

  bool gpu_types = false;

  template <class V>
  void fields(V& v) {
    v("gpu_types", gpu_types,
      "true: pods may use only nodes whose GPU model has exactly the name TYPE of gres/gpu:TYPE. "
      "The site chooses TYPE. If the cluster has no GPU model of this name (A100M80 is not a100), "
      "no node fits. false: any node.");
  }
};

// For each property of a job: the name of its column in a table, or of its key in JSON lines.
struct TraceColumns {
  static constexpr std::string_view kDoc =
      "Names of the columns of format csv, or of the keys of json_lines, in the file. Required "
      "are submit, gpus and either duration or both start and end. With the parameter "
      "default_duration, submit and gpus suffice. The other columns listed here may be absent. "
      "Columns not listed here are skipped. An empty field means unknown.";

  std::string submit = "submit", duration = "duration", gpus = "gpus", pods = "pods", name = "name",
              user = "user", team = "team", application = "application", priority = "priority",
              status = "status", start = "start", end = "end", requested_time = "requested_time",
              cpus = "cpus", memory = "memory", gpu_model = "gpu_model", node = "node";

  bool operator==(const TraceColumns&) const = default;

  template <class V>
  void fields(V& v) {
    v("submit", submit,
      "When the job was submitted: a date and time such as 2020-04-01 12:00:00, or seconds from "
      "any origin, such as 1970. All rows must have the same format.");
    v("duration", duration, "How long the job ran: seconds, or with a unit, as in 90min.");
    v("gpus", gpus, "GPUs of the whole job; 0.25 is a quarter of one GPU.");
    v("pods", pods,
      "Number of pods over which GPUs, cores and memory of the job are spread. Absent: as few pods "
      "as possible, with at most 8 GPUs each.");
    v("name", name,
      "Name of the job: any text of at most 63 bytes. Absent: the number of the row.");
    v("user", user, "User who submitted the job.");
    v("team", team,
      "Team of the job for quotas and fair shares; the parameter `queues` selects jobs by team.");
    v("application", application, "Application of the job: a model, a program, a kind of work.");
    v("priority", priority,
      "low, normal or high. In a scenario, the parameters priority_low, priority_normal and "
      "priority_high set what number each means.");
    v("status", status,
      "Outcome of the job: completed, cancelled, failed, timeout, node_fail, running, pending or "
      "unknown, in upper or lower case.");
    v("start", start, "When the job started on its cluster, in the format of submit.");
    v("end", end, "When the job ended, in the format of submit; not read if there is a duration.");
    v("requested_time", requested_time,
      "Run time that the user requested or estimated, in the format of duration.");
    v("cpus", cpus, "CPU cores of the whole job.");
    v("memory", memory, "Memory of the whole job: GiB, or with a unit, as in 512GB.");
    v("gpu_model", gpu_model, "The required GPU model; A|B allows either.");
    v("node", node,
      "Node on which a job of one pod ran; `recorded_nodes: true` binds the pod to this node.");
  }
};

}  // namespace orrery
