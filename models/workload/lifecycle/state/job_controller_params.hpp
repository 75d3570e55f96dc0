// models/workload/lifecycle/state/job_controller_params.hpp -- start, failure detection and restart
// of jobs.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "models/facts/fact.hpp"
#include "models/workload/job/job_spec.hpp"
#include "sim/config/options.hpp"
#include "sim/core/time.hpp"

namespace orrery {

struct StartLatencyParams {
  static constexpr std::string_view kDoc = "Delay before the containers of a bound pod run.";

  Duration median = {};
  double sigma = 0;

  template <class V>
  void fields(V& v) {
    v("median", median, "Half of the pods start within this time.", Source{"pods start at once"});
    v("sigma", sigma,
      "Standard deviation of the logarithm of start times, which are lognormal; 0: every pod takes "
      "the median.",
      Range{0.0, 5.0}, Heeded{median > Duration{}, "the median is 0"});
  }
};

// When the pods of an arriving job are created: at once; at JobController::release(); or never,
// because the job is a counted one (JobTable::add_counted) and starts with run_counted().
enum class Arrivals : uint8_t { CreatePods, Hold, Count };

// What happens to a job that computes for longer than it requested.
enum class Overruns : uint8_t { Keep, Kill };
constexpr std::array<std::string_view, 2> enum_names(Overruns) { return {"keep", "kill"}; }

// Default time until the exit of a process is detected. Without a control plane, also the default
// time until the failure of a node is detected.
constexpr Duration kExplicitFailure = 5_s;

struct JobControllerParams {
  static constexpr std::string_view kDoc = "Start, failure detection and restart of jobs.";

  int32_t concurrent_syncs = 5;
  int32_t pods_per_sync_max = 500;
  Duration pod_creation_interval = {};
  StartLatencyParams pod_start = {};
  Duration last_call = 30_s;
  std::optional<Duration> monitor_interval = 100_ms;
  std::optional<Duration> failure_detection = {};
  std::optional<Duration> hang_timeout = 10_min;
  Duration restart_delay = 10_s;
  std::optional<Duration> restart_delay_max = {};
  Duration termination = {};
  Overruns overruns = Overruns::Keep;
  bool record_pods = true;  // set by the `record` section, so it is no field here

  template <class V>
  void fields(V& v) {
    v("concurrent_syncs", concurrent_syncs,
      "Number of jobs for which a controller creates pods concurrently. In each round, each of "
      "these jobs gets one batch of pods.",
      Range{1, 10'000}, Unit{"jobs"}, Source{"kube-controller-manager --concurrent-job-syncs"},
      Heeded{Fact::Pods});
    v("pods_per_sync_max", pods_per_sync_max,
      "Maximum number of pods that one sync of a job creates, in batches of 1, 2, 4, ... A job "
      "that lacks more pods is requeued.",
      Range{1, 1'000'000}, Unit{"pods"},
      Source{"MaxPodCreateDeletePerSync and SlowStartInitialBatchSize, pkg/controller/job"},
      Heeded{Fact::Pods});
    v("pod_creation_interval", pod_creation_interval,
      "Time between the creation of two successive batches of a job's pods.",
      Source{"all pods are created at once"}, Heeded{Fact::Pods}, Heeded{Fact::PodBatches});
    v("pod_start", pod_start,
      "Delay before the containers of a bound pod run. With a control plane, this delay begins "
      "when the kubelet's steps are done.",
      Heeded{Fact::Pods});
    v("last_call", last_call,
      "How long a gang waits for its other members once min_available members are up. The gang "
      "starts at once when all members are up.",
      Range{Duration{}, 24_h},
      Source{"last_call_timeout of torchrun's rendezvous; Horovod does not wait, as with 0s"},
      Heeded{Fact::ElasticGangs});
    v("monitor_interval", monitor_interval,
      "How long a running gang takes to notice a member that came up late. All members then "
      "restart from the last checkpoint. No pod is replaced, and this does not count as a restart. "
      "null: late members are not noticed (mpirun, for example, has fixed hosts), and do not "
      "compute until the gang restarts for another reason.",
      Range{Duration{}, 24_h},
      Source{"torchrun --monitor-interval, 0.1 s; SimpleElasticAgent restarts its workers when "
             "nodes wait, and membership changes do not count as retries"},
      Heeded{Fact::ElasticGangs});
    v("failure_detection", failure_detection,
      "How long a job itself takes to detect that its pods are on a dead node. Absent: 5s if "
      "control_plane.level is none, else never. With a control plane, the job also learns of the "
      "dead node when its pods are evicted or the node returns. The parameter is also the time "
      "until a job detects that one of its processes has exited; for this, absent means 5s.",
      Source{"an executor's heartbeat or exit status shows the failure within seconds"},
      Heeded{Fact::Restarts});
    v("hang_timeout", hang_timeout,
      "How long ranks wait for a dead rank on a live node (faults.ranks). With a control plane, "
      "this is also the longest wait for a rank on a dead node. null: for ever, as without "
      "asynchronous error handling.",
      Source{"ProcessGroupNCCL of PyTorch, 10 min since 2.2, 30 min before"}, Heeded{Fact::Hangs});
    v("restart_delay", restart_delay,
      "Time from the detection of a failure until the pods are recreated.",
      Source{"DefaultJobPodFailureBackOff, pkg/controller/job"}, Heeded{Fact::Restarts});
    v("restart_delay_max", restart_delay_max,
      "restart_delay doubles with each restart of the job, up to this limit. With kind: pods, the "
      "restarts of all pods of the job count. Absent: the delay is constant.",
      Source{"a constant delay; Kubernetes has MaxJobPodFailureBackOff, 10 min"},
      Heeded{restart_delay > Duration{}, "restart_delay is 0"}, Heeded{Fact::Failures});
    v("termination", termination,
      "Time from the deletion of a preempted or evicted pod until its containers have ended and "
      "its resources are free. Until then the pod computes.",
      Range{Duration{}, 24_h},
      Source{"processes end at once; Kubernetes kills them after terminationGracePeriodSeconds, "
             "30 s unless the pod says otherwise"},
      Heeded{Fact::Preemption});
    v("overruns", overruns,
      "kill: a job fails for good once it has run for its requested time, pauses for checkpoints "
      "included. Each restart resets its run time. A job of kind: pods fails once its requested "
      "time has passed since its first pod began to run. keep: the job continues.",
      Source{"Kubernetes ends no job without activeDeadlineSeconds; Slurm kills jobs"},
      Heeded{Fact::Requests, overruns == Overruns::Kill});
  }
  template <class C>
  void check(C& c) const {
    if (restart_delay_max && *restart_delay_max < restart_delay) {
      c.error("restart_delay_max", "must not be less than restart_delay");
    }
  }
};

// How long a job may compute; Duration::max(): no limit.
inline Duration time_limit(const JobSpec& spec, Overruns overruns) {
  const bool has_limit = overruns == Overruns::Kill && spec.requested >= Duration{};
  return has_limit ? spec.requested : Duration::max();
}

}  // namespace orrery
