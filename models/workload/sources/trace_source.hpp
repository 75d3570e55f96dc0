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

// How replayed jobs end: as recorded, or all with success.
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
      "auto: jobs of several pods are gangs with one communicator, others independent pods.");
    v("team", team,
      "What quotas, fair shares and the team of a job in the output go by: its queue, or the group "
      "of its user, which SWF logs and what was converted from them tell.");
    v("departures", departures,
      "false: jobs never end, whatever duration was recorded, so that the cluster fills up, as in "
      "studies of packing; the run then needs `until`.");
    v("ends", ends,
      "recorded: jobs that the trace says were cancelled, failed, ran into their time limit or "
      "lost their node end so when they have computed for as long as recorded, and are not tried "
      "again; what they did not save is lost. completed: they complete. openb's phases are those "
      "of a snapshot, and no ends.");
    v("shuffle", shuffle, "Random order at even intervals instead of the recorded times.");
    v("host_requests", host_requests, "Pods ask for the CPUs and the memory that were recorded.");
    v("gpu_models", gpu_models, "Pods go only to nodes with a GPU model that was recorded.");
    v("priority_low", priority_low, "Priority of jobs that the trace calls low.", kPriorities);
    v("priority_normal", priority_normal, "Of those it calls normal, or says nothing about.",
      kPriorities);
    v("priority_high", priority_high, "Of those it calls high.", kPriorities);
    v("pods", pods, "Where the pods may go.");
    v("training", training, "Start, checkpoints and restarts; absent: the workload's.");
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
// The same with a reader made elsewhere. `takes_gpus` false: no job may request GPUs.
std::unique_ptr<JobSource> make_trace_source(std::unique_ptr<TraceReader> reader,
                                             const TraceSourceParams& params,
                                             const TrainingParams& training,
                                             bool takes_gpus = true);

}  // namespace orrery
