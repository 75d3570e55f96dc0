// models/workload/traces/formats/trace_params.hpp -- the trace to replay, and which part of it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/workload/traces/formats/format_options.hpp"
#include "models/workload/traces/formats/trace_format.hpp"
#include "models/workload/traces/formats/trace_job.hpp"
#include "sim/config/options.hpp"

namespace orrery {

struct TraceParams {
  static constexpr int64_t kGpusMax = 1'000'000'000;
  static constexpr std::string_view kDoc = "Replays jobs recorded on a real cluster.";

  std::string file{};
  TraceFormat format = TraceFormat::Auto;
  std::vector<std::string> queues{};
  std::string window_start{};
  std::string window_end{};
  bool warm_start = true;
  bool gpu_jobs_only = false;
  TraceArrival arrive_at = TraceArrival::Submit;
  TraceSort sort = TraceSort::Auto;
  double time_scale = 1;
  int64_t jobs_max = 0;
  int64_t gpus_min = 0;
  int64_t gpus_max = 0;
  std::vector<TraceStatus> statuses{};
  int32_t copies = 1;
  bool lenient = false;
  std::optional<Duration> default_duration{};
  bool recorded_nodes = false;
  bool cancelled_unstarted = false;
  SwfOptions swf{};
  GavelOptions gavel{};
  PaiOptions pai{};
  OpenbOptions openb{};
  SacctOptions sacct{};
  TraceColumns columns{};

  template <class V>
  void fields(V& v) {
    v("file", file, "The trace: plain, gzip or xz, possibly as the only file of a tar archive.",
      Required{}, Example{"../shared/traces/helios/venus_gpu_jobs_48hclamp.csv.gz"});
    v("format", format,
      "auto: recognised by the first lines; csv or json_lines if `columns` is set.");
    v("queues", queues, "Use only jobs of these queues (virtual clusters); empty: all.");
    v("window_start", window_start,
      "Start of the used part of the trace: a date and time if the trace has dates, else seconds "
      "on the trace's clock. If a csv, json_lines or swf trace counts seconds from 1970, a date is "
      "accepted, too. Empty: 0:00 of the first day if times are dates or count from 1970, else 0. "
      "But an openb trace with warm_start is then used from the first deletion of a pod on, "
      "because it lacks pods deleted before the recording began.",
      Example{"2020-09-01"});
    v("window_end", window_end,
      "Jobs that arrive at this time or later are left out. Empty: no limit.",
      Example{"2020-09-27 00:00:00"});
    v("warm_start", warm_start,
      "true: a job submitted before window_start arrives at window_start if it had not ended then. "
      "If it was running at window_start, it keeps only the rest of its duration. false: all "
      "jobs submitted before window_start are left out.");
    v("gpu_jobs_only", gpu_jobs_only, "Leave out jobs without GPUs.");
    v("arrive_at", arrive_at, "Jobs arrive at their submission, or at their recorded start.");
    v("sort", sort,
      "How far rows may be out of order. window: by fewer than 4,096 rows. all: by any number of "
      "rows; the whole file is read first (at most 140 MB into memory, the rest into a temporary "
      "file). auto: `all` for unsorted formats (openb, dlrm, pai, pai_instances, philly, "
      "philly_pollux, chronus, google_*, csv, json_lines, sacct), `window` for the others.");
    v("time_scale", time_scale,
      "Factor on the times between arrivals, but not on durations; 0.5 doubles the load.",
      Range{0.001, 1000.0});
    v("jobs_max", jobs_max, "Maximum number of jobs; 0: all.", Unit{"jobs"},
      Range{int64_t{0}, int64_t{1'000'000'000}});
    v("gpus_min", gpus_min, "Leave out jobs with fewer GPUs.", Range{int64_t{0}, kGpusMax});
    v("gpus_max", gpus_max, "Leave out jobs with more GPUs; 0: no limit.",
      Range{int64_t{0}, kGpusMax});
    v("statuses", statuses, "Use only jobs with these outcomes; empty: all.",
      Example{"[completed, failed]"});
    v("copies", copies, "Number of copies of each job. All copies arrive at the same instant.",
      Range{1, 1000});
    v("lenient", lenient,
      "true: skip malformed rows and report their number. false: a malformed row ends the run.");
    v("default_duration", default_duration,
      "Duration of jobs that started, but have no recorded duration. Absent: these jobs are left "
      "out. Which jobs they are depends on the format. sia, openb_untimed: all jobs, so these "
      "formats need this parameter. swf: jobs with a run time of -1. acme_seren, acme_kalos, "
      "philly, pai, pai_instances, sacct, google_*: jobs that ran when the recording stopped. csv, "
      "json_lines: jobs without a duration, unless start and end are known. gavel: jobs without a "
      "throughput. Other formats ignore this parameter.");
    v("recorded_nodes", recorded_nodes,
      "true: pods may use only the node that the trace names for them. false: any node.");
    v("cancelled_unstarted", cancelled_unstarted,
      "true: use jobs that were cancelled before they started. The trace must have the time of "
      "the cancellation, as in acme_seren, acme_kalos, google_*, csv, json_lines, sacct, and "
      "native traces converted with this option. In the replay, such a job is cancelled after its "
      "recorded wait if it still waits. If it has started by then, it runs for its requested time "
      "or, if that is unknown, for default_duration. Jobs with neither are left out. false: "
      "jobs that were cancelled before they started are left out. If arrive_at is start, they are "
      "left out in any case.");
    v("swf", swf, "For format swf only.");
    v("gavel", gavel, "For format gavel only.");
    v("pai", pai, "For formats pai and pai_instances only.");
    v("openb", openb, "For format openb only.");
    v("sacct", sacct, "For format sacct only.");
    v("columns", columns,
      "For formats csv and json_lines only: the names of the columns, or keys, in the file. The "
      "descriptions below say what each column holds. The columns submit and gpus are required. "
      "Without default_duration, either duration or both start and end are required, too.",
      Example{"{submit: SubmitTime, duration: Seconds, gpus: NumGpu}"});
  }
};

}  // namespace orrery
