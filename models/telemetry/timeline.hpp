// models/telemetry/timeline.hpp -- time series of the cluster, its teams and useful compute.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/hardware/cluster_state.hpp"
#include "models/hardware/node_news.hpp"
#include "models/telemetry/gpu_usage.hpp"
#include "models/telemetry/timeline_params.hpp"
#include "models/telemetry/timeline_rows.hpp"
#include "models/telemetry/useful_curve.hpp"
#include "models/workload/job/job_news.hpp"
#include "models/workload/job/job_rows.hpp"
#include "models/workload/job/job_table.hpp"
#include "models/workload/job/pod_news.hpp"
#include "sim/engine/signal.hpp"
#include "sim/record/channel.hpp"
#include "sim/runtime/sim.hpp"

namespace orrery {

// Functions that the timeline calls when it samples.
struct TimelineProbes {
  std::function<uint64_t()> pods_pending, gangs_pending;
  // Returns true if all jobs are over and the run has no `until`. The run then ends and sampling
  // stops.
  std::function<bool()> is_over;
};

// GPU series are means over the interval that ends at the row's time. Counts are the values at the
// row's time, after all events of that instant. At most one sampling event is pending. No event is
// scheduled after the `until` of start() or after the end of the run, so sampling never keeps a run
// alive. finish() adds the last, shorter interval. It also writes the series of useful compute,
// because useful compute is known only at the end.
class Timeline {
 public:
  Timeline(Sim sim, const ClusterState& cluster, const JobTable& jobs, const GpuUsage& usage,
           const TimelineParams& params, TimelineProbes probes);
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  void start(Time until);
  void finish(Time end);

  void connect(JobNews& jobs, PodNews& pods, NodeNews& nodes);
  void job_arrived(JobId job);
  void phase_changed(JobId job, JobPhase before, JobPhase after);
  void pod_assigned(PodId pod);
  void pod_unassigned(PodId pod);
  void counted_holds(JobId job, int64_t gpu_milli);
  void recovered(const RecoveryRow& row);
  void work_done(const WorkDone& done) { useful_.work_done(done); }
  void work_settled(const WorkSettled& settled) { useful_.work_settled(settled); }

  Signal<Time> sampled;  // an interval of /timeline/cluster ended now

 private:
  struct Team {
    FixedText<32> name;
    int64_t gpu_milli = 0;
    uint32_t jobs_pending = 0, jobs_running = 0;
  };
  void schedule_next();
  void sample();
  void write_rows(Time now);
  uint32_t team_of(const Job& job);
  void count(JobId job, JobPhase phase, uint32_t step);

  Sim sim_;
  const ClusterState& cluster_;
  const JobTable& jobs_;
  const GpuUsage& usage_;
  TimelineParams params_;
  TimelineProbes probes_;
  Time until_ = Time::max();
  Time sampled_to_;
  GpuIntegrals sampled_{};
  UsefulCurve useful_;
  uint32_t jobs_pending_ = 0, jobs_running_ = 0, nodes_down_;
  uint64_t nodes_failed_ = 0, recoveries_ = 0;
  std::vector<Time> sample_times_;
  std::vector<Team> teams_;  // in order of their first job
  std::map<std::string, uint32_t> team_index_;
  std::vector<uint32_t> team_of_job_;   // by job
  std::vector<int64_t> counted_milli_;  // by job
  Channel<ClusterSample> cluster_rows_;
  Channel<UsefulSample> useful_rows_;
  std::optional<Channel<TeamSample>> team_rows_;
};

}  // namespace orrery
