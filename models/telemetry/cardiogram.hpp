// models/telemetry/cardiogram.hpp -- what each rank of chosen gangs does, at fine steps of time.
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

// One event a row's interval within the window, one at its begin, none outside; what it keeps is
// one interval of each rank. Jobs that run as a rate are expanded into the steps and checkpoints
// that the rate stands for, others are shown as they are.
//
// Sums over a window are those of the accounts in /jobs and of GpuUsage, exactly in whole steps and
// checkpoint cycles. A rate says that each moment is like the mean: so each change of pace, and
// each end of the window, that comes within a step or a cycle may differ by less than one of them.
class Cardiogram {
 public:
  // `steps`: null with network.level: none. All must outlive it.
  Cardiogram(Sim sim, const JobTable& jobs, const JobController& controller, const GangSteps* steps,
             const GpuPowers& powers, CardiogramParams params);
  Cardiogram(const Cardiogram&) = delete;
  Cardiogram& operator=(const Cardiogram&) = delete;

  void start();
  void finish(Time end);  // after the controller's
  // Names that no gang had; a sentence each.
  std::vector<std::string> notes() const;

  // After all else that is shown.
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
    int64_t milli = 0;  // of its GPU
    Mode mode = Mode::Idle;
    bool is_dead = false;
    bool serves = false;  // parameters, and waits while others compute
    GpuPower power;       // there, for this job
    double nic_part = 0;  // of the bytes that its job's steps send
    RunParts parts;       // of the interval under way
    int128_t energy = 0;  // watts times milli-GPUs times nanoseconds
  };
  struct Watched {
    JobId job;
    bool is_over = false;
    std::vector<Rank> ranks;
    Duration step_from;  // progress at which a step began
    Time since;          // of `expansion`
    Time settled;        // up to which ranks know what they did
    Time restore_from;   // of ranks that are Held
    bool runs = false;
    RunExpansion expansion;
    RunParts shown;  // by the expansion, up to now
    RunParts run;    // of ranks that run, since `settled`
    Bytes sent{};    // by steps that are played one by one, when last looked at
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
  std::map<uint64_t, Watched> watched_;  // by serial number of the job
  std::vector<bool> found_, podded_;     // by name: a gang had it; independent pods had
  Channel<CardiogramRow> rows_;
};

}  // namespace orrery
