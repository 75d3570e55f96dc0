// models/workload/sources/trace_source.hpp -- submits recorded jobs.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "models/workload/job/job_source.hpp"
#include "models/workload/job/pod_params.hpp"
#include "models/workload/sources/training_params.hpp"
#include "models/workload/traces/formats/trace_params.hpp"
#include "models/workload/traces/synthesis/shuffle.hpp"
#include "models/workload/traces/trace_reader.hpp"

namespace orrery {

// How jobs end in the replay if they failed, timed out, lost their node or were cancelled in the
// trace. Recorded: they end the same way. Completed: they complete their work.
enum class TraceEnds : uint8_t { Recorded, Completed };
constexpr std::array<std::string_view, 2> enum_names(TraceEnds) {
  return {"recorded", "completed"};
}

struct TraceSourceParams : TraceParams {
  static constexpr std::string_view kKind = "trace";

  KindOfJob job_kind = KindOfJob::Auto;
  TraceTeam team = TraceTeam::Queue;
  bool departures = true;
  TraceEnds ends = TraceEnds::Recorded;
  std::optional<ShuffleParams> shuffle = {};
  bool host_requests = true;
  bool gpu_models = true;
  int32_t priority_low = 0, priority_normal = 0, priority_high = 0;
  PodConstraintParams pods = {};
  std::optional<TrainingParams> training = {};

  template <class V>
  void fields(V& v) {
    TraceParams::fields(v);
    v("job_kind", job_kind,
      "pods: the pods of a job are independent. mpi_gang: they are a gang with one communicator. "
      "auto: mpi_gang if the job has several pods, or if training.checkpoint or training.step is "
      "set; else pods.");
    v("team", team,
      "The team of a job for quotas, fair shares and the output. queue: the job's queue; group: "
      "the group of the job's user, which the formats swf, sacct and native record.");
    v("departures", departures,
      "false: jobs never end, whatever their recorded duration, so the cluster fills up. Studies "
      "of packing do this. The run then needs `until`.");
    v("ends", ends,
      "recorded: jobs end as recorded, after their recorded compute time. If a job was cancelled, "
      "failed, reached its time limit or lost its node, it is not retried, and its unsaved "
      "compute is lost. completed: these jobs complete, too. Jobs of openb complete in both "
      "cases, because openb records the phase of each pod at one moment, not its outcome.");
    v("shuffle", shuffle,
      "Jobs arrive in random order and at even intervals, not at the recorded times.");
    v("host_requests", host_requests, "Pods request the recorded CPUs and memory.");
    v("gpu_models", gpu_models,
      "Pods may use only nodes with a GPU model that the trace records for the job.");
    v("priority_low", priority_low, "Priority of jobs whose recorded priority is low.",
      kPriorities);
    v("priority_normal", priority_normal,
      "Priority of jobs whose recorded priority is normal or missing.", kPriorities);
    v("priority_high", priority_high, "Priority of jobs whose recorded priority is high.",
      kPriorities);
    v("pods", pods, "Constraints, labels and image of the pods.");
    v("training", training, "Start, checkpoints and restarts; absent: as in workload.training.");
  }
  template <class C>
  void check(C& c) const {
    if (shuffle && time_scale != 1) {
      c.warning("time_scale", "has no effect on shuffled jobs: set shuffle.interval");
    }
  }
};

std::unique_ptr<JobSource> make_trace_source(const TraceSourceParams& params,
                                             const TrainingParams& training);
// Like the function above, with a reader that the caller has opened. If `takes_gpus` is false, the
// trace ends with an error at its first job with GPUs.
std::unique_ptr<JobSource> make_trace_source(std::unique_ptr<TraceReader> reader,
                                             const TraceSourceParams& params,
                                             const TrainingParams& training,
                                             bool takes_gpus = true);

}  // namespace orrery
