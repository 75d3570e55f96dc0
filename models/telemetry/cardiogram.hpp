// models/telemetry/cardiogram.hpp -- activity of each rank of chosen gangs at fine time steps.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "models/hardware/gpu_power.hpp"
#include "models/telemetry/cardiogram_params.hpp"
#include "models/telemetry/run_expansion.hpp"
#include "models/workload/job/job_table.hpp"
#include "models/workload/lifecycle/job_controller.hpp"
#include "models/workload/steps/gang_steps.hpp"
#include "sim/core/int128.hpp"
#include "sim/record/channel.hpp"
#include "sim/runtime/sim.hpp"

namespace orrery {

// Writes a row for each rank and each interval of `resolution` in the window (CardiogramParams).
// Recording takes one event at the window's start, one for each interval, and none outside the
// window. Memory holds only the current interval of each rank. RunExpansion derives steps and
// checkpoints from the Pace of the job. Example: a step has 0.6 s of compute and 0.4 s of exchange,
// and rows cover 0.5 s. The first row has 0.5 s of compute, the second 0.1 s of compute and 0.4 s
// of exchange.
//
// If the window has only whole steps and checkpoint cycles, sums of the rows equal the GPU times in
// /jobs and the integrals of GpuUsage. /jobs and GpuUsage spread a step evenly over its duration,
// but the rows do not. So each change of pace, and the start and end of the window, may add a
// difference of less than one step or cycle.
class Cardiogram {
 public:
  // `steps` is null with network.level: none. All arguments but `params` must outlive this object.
  Cardiogram(Sim sim, const JobTable& jobs, const JobController& controller, const GangSteps* steps,
             const GpuPowers& powers, CardiogramParams params);
  Cardiogram(const Cardiogram&) = delete;
  Cardiogram& operator=(const Cardiogram&) = delete;

  void start();
  void finish(Time end);  // to be called after JobController::finish()
  // One sentence for each name in CardiogramParams::jobs for which there was no gang.
  std::vector<std::string> notes() const;

  // Call this after the components that the cardiogram reads have connected to `jobs` and `pods`.
  void connect(JobNews& jobs, PodNews& pods);
  void job_arrived(JobId job);
  void phase_changed(JobId job, JobPhase after);
  void pace_changed(JobId job);
  void pod_assigned(PodId pod, NodeId node);
  void pod_unassigned(PodId pod);
  void rank_dead(PodId pod, int64_t milli);
  void job_over(JobId job);

 private:
  enum class Mode : uint8_t { Idle, Held, Runs, Hung, Dead };
  struct Rank {
    NodeId node;
    int32_t pod = 0;
    int64_t milli = 0;  // milli-GPUs that the rank holds
    Mode mode = Mode::Idle;
    bool is_dead = false;
    bool serves = false;  // a dedicated parameter server, which waits while others compute
    GpuPower power;       // power of the rank's GPU, by node and job
    double nic_part = 0;  // the rank's share of what its job's steps send to other nodes
    RunParts parts;       // activity in the current interval
    int128_t energy = 0;  // watts times milli-GPUs times nanoseconds in the current interval
  };
  struct Watched {
    JobId job;
    bool is_over = false;
    std::vector<Rank> ranks;
    Duration step_from;  // progress when the run began; steps are counted from there
    Time since;          // start of `expansion`
    Time settled;        // ranks are accounted up to here
    Time restore_from;   // when ranks in mode Held begin to restore
    bool runs = false;
    RunExpansion expansion;
    RunParts shown;  // activity in `expansion` that advance() has added to `run` so far
    RunParts run;    // activity of running ranks since `settled`
    Bytes sent{};    // GangSteps::sent() at the last update
  };
  Watched* find(JobId job);
  template <class F>
  void for_ranks(Watched& watched, PodId pod, F&& f);
  void open();
  void close_interval();
  void schedule_next();
  void advance(Watched& watched, Time now);
  void settle(Watched& watched, Time now);
  static void spend(Rank& rank, const RunParts& parts);
  void look(Watched& watched);
  void look_at_run(Watched& watched);
  void write_rows(Time now);

  Sim sim_;
  const JobTable& jobs_;
  const JobController& controller_;
  const GangSteps* steps_;
  const GpuPowers& powers_;
  CardiogramParams params_;
  bool is_open_ = false;
  Time written_to_;
  std::map<uint64_t, Watched> watched_;  // by the job's serial number
  // For each name in CardiogramParams::jobs: whether a gang had the name, and whether a job of
  // independent pods had it.
  std::vector<bool> found_, podded_;
  Channel<CardiogramRow> rows_;
};

}  // namespace orrery
