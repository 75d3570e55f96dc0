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
    v("file", file, "The trace: plain, gzip or xz, also as the only file of a tar archive.",
      Required{}, Example{"../shared/traces/helios/venus_gpu_jobs_48hclamp.csv.gz"});
    v("format", format,
      "Format of the file; auto: recognised by its first lines, or csv or json_lines if `columns` "
      "is set.");
    v("queues", queues, "Replay only jobs of these queues (virtual clusters); empty: all.");
    v("window_start", window_start,
      "Start of the replay: a date and time for a trace with dates, else seconds on the trace's "
      "clock; in csv, json_lines and swf either. Empty: the first day of a trace with dates; in "
      "an openb list with warm_start the first deletion, because the list lacks pods that ended "
      "before the recording began; else 0.",
      Example{"2020-09-01"});
    v("window_end", window_end, "Jobs that arrive then or later are left out. Empty: none.",
      Example{"2020-09-27 00:00:00"});
    v("warm_start", warm_start,
      "Jobs from before the window that were alive at its start arrive then, running ones with the "
      "rest of their duration. Otherwise they are left out.");
    v("gpu_jobs_only", gpu_jobs_only, "Leave out jobs without GPUs.");
    v("arrive_at", arrive_at, "Jobs arrive at their submission, or at their recorded start.");
    v("sort", sort,
      "How far rows may be out of order. window: by fewer than 4,096 rows. all: by any number, as "
      "the whole file is read first (140 MB at most, the rest in a temporary file). auto: all for "
      "formats that are not in the order of submission (openb, dlrm, pai, philly, philly_pollux, "
      "chronus, csv, json_lines and sacct) and for google_*, where a later row has the duration; "
      "window for the others.");
    v("time_scale", time_scale,
      "Factor on the times between arrivals, not on durations; 0.5 doubles the load.",
      Range{0.001, 1000.0});
    v("jobs_max", jobs_max, "Stop after this many jobs; 0: all.", Unit{"jobs"},
      Range{int64_t{0}, int64_t{1'000'000'000}});
    v("gpus_min", gpus_min, "Leave out jobs of fewer GPUs.", Range{int64_t{0}, kGpusMax});
    v("gpus_max", gpus_max, "Leave out jobs of more GPUs; 0: no limit.",
      Range{int64_t{0}, kGpusMax});
    v("statuses", statuses, "Replay only jobs with these outcomes; empty: all.",
      Example{"[completed, failed]"});
    v("copies", copies,
      "Every job arrives this many times at its instant, which multiplies the load and keeps "
      "its pattern.",
      Range{1, 1000});
    v("lenient", lenient,
      "Skip malformed rows and report how many there were; otherwise the first one ends the run.");
    v("default_duration", default_duration,
      "Duration of jobs that started, but have no duration in the trace: all of sia and "
      "openb_untimed, which need it; in swf a run time of -1; in acme_seren, acme_kalos, philly, "
      "pai, pai_instances, sacct and google_* jobs running when the recording stopped; in csv and "
      "json_lines an empty duration; in gavel jobs without a throughput. Absent: left out. It has "
      "no effect on formats in which every job has a duration, so a study may set it for traces "
      "of several formats.");
    v("recorded_nodes", recorded_nodes,
      "Pods may only use the node on which they ran, by its name; false: any node.");
    v("cancelled_unstarted", cancelled_unstarted,
      "Replay jobs that were cancelled before they started, if the trace has the time: "
      "acme_seren, acme_kalos, google_*, csv, json_lines, sacct, and native traces made with this "
      "option. Each is cancelled after its recorded wait if it has not started by then. If it has "
      "started, it runs for its requested time or, if that is unknown, for default_duration. Such "
      "jobs are left out if neither is known, with false, and with arrive_at: start.");
    v("swf", swf, "For format swf only.");
    v("gavel", gavel, "For format gavel only.");
    v("pai", pai, "For formats pai and pai_instances only.");
    v("openb", openb, "For format openb only.");
    v("sacct", sacct, "For format sacct only.");
    v("columns", columns, "For formats csv and json_lines only.",
      Example{"{submit: SubmitTime, duration: Seconds, gpus: NumGpu}"});
  }
};

}  // namespace orrery
