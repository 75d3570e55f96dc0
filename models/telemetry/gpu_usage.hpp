// models/telemetry/gpu_usage.hpp -- capacity, use and power of GPUs, integrated exactly over time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "models/hardware/cluster_state.hpp"
#include "models/hardware/gpu_power.hpp"
#include "models/hardware/node_news.hpp"
#include "models/workload/job/job_table.hpp"
#include "models/workload/job/job_usage.hpp"
#include "models/workload/lifecycle/state/gpu_time.hpp"
#include "sim/core/id.hpp"
#include "sim/core/int128.hpp"
#include "sim/core/time.hpp"
#include "sim/engine/signal.hpp"
#include "sim/record/recorder.hpp"
#include "sim/runtime/sim.hpp"

namespace orrery {

class JobController;

// Rates of GPU use. Each rate is piecewise constant over time.
enum class GpuRate : uint8_t {
  Up,         // milli-GPUs of nodes that are up
  Allocated,  // milli-GPUs of pods, pods waiting in Permit included, and of counted jobs
  Reported,   // nano-GPUs that nvidia-smi reports as utilised: computing or in a busy wait
  Computing,  // nano-GPUs that compute
  Power,      // microwatts of all GPUs on nodes that are up
  Loaded,     // nano-GPUs: how many computing GPUs would draw the same power above idle
};
inline constexpr size_t kGpuRates = 6;
using GpuRates = std::array<int64_t, kGpuRates>;
using GpuIntegrals = std::array<int128_t, kGpuRates>;  // rate times nanoseconds
// Factor that converts a rate to GPUs or, for Power, to watts.
constexpr double unit_of(GpuRate rate) {
  constexpr std::array<double, kGpuRates> kUnits = {1e-3, 1e-3, 1e-9, 1e-9, 1e-6, 1e-9};
  return kUnits[static_cast<size_t>(rate)];
}
constexpr double mean_of(GpuRate rate, int128_t integral, Duration span) {
  return static_cast<double>(integral) / static_cast<double>(span.ns) * unit_of(rate);
}

// The GPUs of a pod are idle from the pod's reservation until the pod computes: during image pulls,
// the start barrier, communicator set-up and restore. They compute while both job and pod are
// Running, and spin while the job is Hung, unless their processes have died. A running job computes
// for a share of its time, and spins through exchanges and checkpoints for the rest. The share is
// the mean from the job's last start until its work is done, computed as if the current pace held
// for all of this time. So the rates are constant while the job keeps its pace. If a run completes
// at one pace, the integrals of its rates agree with its GPU times in /jobs to a millionth. If a
// run stops early, integrals and GPU times differ by less than the time of one checkpoint write on
// each GPU. Nodes that are down draw no power.
//
// GPUs of dedicated parameter servers spin as long as their gang runs. At load 0.25 the
// GPUs of a service compute for 25 % of the time, and are idle for the rest. So of a replica of
// 8 A100, 8 GPUs are allocated, and on average 2 are reported as busy and 2 compute. Together the 8
// GPUs draw 1,118 W.
//
// A counted job (Job::is_counted) holds a number of GPUs but no node. Its GPUs are treated like
// those of a pod, and draw the mean power of the cluster's GPUs.
class GpuUsage {
 public:
  GpuUsage(Sim sim, const ClusterState& cluster, const JobTable& jobs, GpuPowers powers);
  GpuUsage(const GpuUsage&) = delete;
  GpuUsage& operator=(const GpuUsage&) = delete;

  void connect(JobController& jobs, NodeNews& nodes);
  // In the functions below, `computing` is the share of a running job's time that its GPUs spend on
  // compute, in millionths.
  void pod_assigned(PodId pod, NodeId node);
  void pod_unassigned(PodId pod);
  void pod_runs(PodId pod, int32_t computing);
  void rank_dead(PodId pod, int64_t milli);
  void counted_holds(JobId job, int64_t gpu_milli);
  void job_changed(JobId job, int32_t computing);  // its phase or its pace changed
  void node_down(NodeId node);
  void node_up(NodeId node);

  const GpuPowers& powers() const { return powers_; }
  int64_t rate(GpuRate r) const { return rates_[static_cast<size_t>(r)]; }
  GpuIntegrals integrals(Time now) const;           // since the start of the run
  Signal<NodeId, int64_t> node_allocation_changed;  // second argument: change in milli-GPUs

  // Compute and exchange times are taken from `accounts`, the sums over all jobs. GpuIntegrals are
  // less exact if jobs stop early, and do not separate lost from useful compute.
  void add_summary(Recorder& recorder, Time end, const GpuTime& accounts) const;

 private:
  enum class Mode : uint8_t { Idle, Spins, Computes, Serves };
  struct Use {        // GPUs of a pod, or of a counted job
    NodeId node;      // node of a pod; invalid for a counted job
    JobId service{};  // the pod's service in mode Serves
    int64_t milli = 0;
    int64_t dead = 0;       // part of `milli` whose processes died
    int32_t computing = 0;  // share of time in which the GPUs compute, in millionths
    Mode mode = Mode::Idle;
    GpuPower power;
  };
  // Sums over all running replicas of a service, and their common share of computing. So a change
  // of load takes one update for any number of replicas.
  struct Service {
    int64_t milli = 0;
    int64_t above_idle = 0;  // power above idle while computing, in milli-GPUs times watts
    // Nano-GPUs: what the replicas add to GpuRate::Loaded while all of them compute.
    int64_t loaded = 0;
    int32_t computing = 0;  // share of time in which the GPUs compute, in millionths
  };
  void advance();
  void load_changed(JobId service, int32_t computing);
  void add(const Service& service, int sign);
  void serve(const Use& use, int sign);
  int64_t loaded(const Use& use, int64_t above_idle) const;
  void set_mode(Use& use, Mode mode, int32_t computing);
  Use* find(PodId pod);
  Mode mode_of(const Pod& pod, JobPhase phase) const;
  void add(const Use& use, int sign);
  int64_t& rate(GpuRate r) { return rates_[static_cast<size_t>(r)]; }

  Sim sim_;
  const ClusterState& cluster_;
  const JobTable& jobs_;
  GpuPowers powers_;
  GpuRates rates_{};
  GpuIntegrals integrals_{};
  Time integrated_to_;
  std::vector<Use> pods_;     // by pod
  std::vector<Use> counted_;  // by job
  std::map<JobId, Service> services_;
};

}  // namespace orrery
