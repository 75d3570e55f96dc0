// models/telemetry/gpu_usage.hpp -- GPU use told four ways, integrated exactly.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "models/hardware/cluster_state.hpp"
#include "models/workload/job_controller.hpp"
#include "sim/core/id.hpp"
#include "sim/core/int128.hpp"
#include "sim/core/time.hpp"
#include "sim/record/recorder.hpp"
#include "sim/runtime/sim.hpp"

namespace orrery {

struct GpuPower {      // of one GPU of a machine
  int32_t idle_w = 0;  // no context
  int32_t spin_w = 0;  // waits busily
  int32_t busy_w = 0;  // trains
};

// What GPUs do, as rates that stay the same between two changes.
enum class GpuRate : uint8_t {
  Up,         // milli-GPUs of nodes that are up
  Allocated,  // milli-GPUs reserved for pods, those that wait in Permit included
  Reported,   // milli-GPUs at 100 % by nvidia-smi: of jobs that run, and of ranks that hang
  Computing,  // nano-GPUs: of jobs that run, less the share of time spent on checkpoints
  Power,      // microwatts of all GPUs on nodes that are up
  Loaded,     // nano-GPUs: the power above idle, as busy GPUs of the same machine
};
inline constexpr size_t kGpuRates = 6;
using GpuRates = std::array<int64_t, kGpuRates>;
using GpuIntegrals = std::array<int128_t, kGpuRates>;  // rates times nanoseconds

// A pod's GPUs are idle from its reservation on (images, start barrier, communicator and restore
// count as idle), compute while its job is Running and the pod has begun, and spin while the job is
// Hung. A running job computes for compute_fraction() of the time and spins through its checkpoints
// for the rest: a mean over the cycle, not the cycle itself. Nodes that are down draw no power.
class GpuUsage {
 public:
  // `power` by ClusterState::machine(); CPU machines may have any.
  GpuUsage(Sim sim, const ClusterState& cluster, const JobTable& jobs, std::vector<GpuPower> power);
  GpuUsage(const GpuUsage&) = delete;
  GpuUsage& operator=(const GpuUsage&) = delete;

  // News the wiring passes on.
  void pod_assigned(PodId pod, NodeId node);
  void pod_unassigned(PodId pod, NodeId node);
  void pod_runs(PodId pod);  // an independent pod begins to compute
  void phase_changed(JobId job);
  void work_lost(const WorkLost& lost);
  void node_down(NodeId node);  // after its pods are gone
  void node_up(NodeId node);

  const GpuRates& rates() const { return rates_; }
  int64_t rate(GpuRate r) const { return rates_[static_cast<size_t>(r)]; }
  GpuIntegrals integrals(Time now) const;  // since the start; `now` must not lie before a change
  // Compute that a failure undid, in nano-GPU nanoseconds; part of Computing.
  int128_t lost() const { return lost_; }
  int64_t allocated_milli(NodeId node) const { return node_milli_[node.index]; }
  int128_t allocated_on(NodeId node, Time now) const;  // milli-GPU nanoseconds

  // Told of each loss: compute from `from` until now, in nano-GPUs.
  Signal<Time, int64_t> compute_lost;

  void add_summary(Recorder& recorder, Time end) const;

 private:
  enum class Mode : uint8_t { Idle, Spins, Computes };
  struct PodUse {
    NodeId node;  // invalid: none
    int32_t milli = 0;
    Mode mode = Mode::Idle;
    JobId job;
  };
  struct MilliRates {  // of one milli-GPU in a mode; Up stays 0
    GpuRates rates{};
  };
  void advance();
  void add(const PodUse& use, int sign);
  void set_mode(PodId pod, Mode mode);
  Mode mode_of(const Pod& pod, JobPhase phase) const;
  GpuRates milli_rates(uint16_t machine, Mode mode, int64_t computing_nano) const;
  int64_t computing_nano(JobId job) const;  // of one milli-GPU

  Sim sim_;
  const ClusterState& cluster_;
  const JobTable& jobs_;
  std::vector<GpuPower> power_;
  GpuRates rates_{};
  GpuIntegrals integrals_{};
  Time integrated_to_;
  int128_t lost_ = 0;
  std::vector<PodUse> pods_;
  std::vector<int64_t> node_milli_;
  std::vector<int128_t> node_integral_;
  std::vector<Time> node_since_;
};

}  // namespace orrery
