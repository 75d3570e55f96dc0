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
  static constexpr std::string_view kDoc = "From a pod's binding until its containers run.";

  Duration median = {};
  double sigma = 0;

  template <class V>
  void fields(V& v) {
    v("median", median, "Half of the pods start within this time.",
      Source{"0: control_plane.level: none models no such delay"});
    v("sigma", sigma,
      "Deviation of the logarithm of a lognormal distribution; 0: every pod takes the median.",
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
      "Jobs whose pods are created concurrently; they take turns, one batch each.",
      Range{1, 10'000}, Unit{"jobs"}, Source{"kube-controller-manager --concurrent-job-syncs"},
      Heeded{Fact::Pods});
    v("pods_per_sync_max", pods_per_sync_max,
      "Most pods that one sync of a job creates, in batches of 1, 2, 4, ...; a job that lacks "
      "more goes to the back of the queue.",
      Range{1, 1'000'000}, Unit{"pods"},
      Source{"MaxPodCreateDeletePerSync and SlowStartInitialBatchSize, pkg/controller/job"},
      Heeded{Fact::Pods});
    v("pod_creation_interval", pod_creation_interval, "Time between two batches of a job.",
      Source{"0: control_plane.level: none models no such delay"}, Heeded{Fact::Pods},
      Heeded{Fact::PodBatches});
    v("pod_start", pod_start, "From a pod's binding until its containers run.", Heeded{Fact::Pods});
    v("last_call", last_call,
      "The last call: how long a gang with min_available members up waits for the others; it "
      "starts as soon as all are up.",
      Range{Duration{}, 24_h},
      Source{"last_call_timeout of torchrun's rendezvous; Horovod starts with who is there: 0s"},
      Heeded{Fact::ElasticGangs});
    v("monitor_interval", monitor_interval,
      "How long until a running gang notices a member that came up late, and restarts with it from "
      "the last checkpoint: no pod is replaced, and this counts as no restart. null: never, as "
      "with launchers with fixed hosts (mpirun); late members do not compute until the gang "
      "restarts for another reason.",
      Range{Duration{}, 24_h},
      Source{"torchrun --monitor-interval, 0.1 s; SimpleElasticAgent restarts its workers when "
             "nodes wait, and membership changes do not count as retries"},
      Heeded{Fact::ElasticGangs});
    v("failure_detection", failure_detection,
      "How long until a job itself detects that its pods are on a dead node. Absent: 5s with "
      "control_plane.level: none, never with other levels. With those, the eviction of the pods "
      "or the return of their node is a detection, too, if it comes first. Exited processes are "
      "detected after this time, or 5s, with any level.",
      Source{"5s: an executor's heartbeat or exit status tells within seconds"},
      Heeded{Fact::Restarts});
    v("hang_timeout", hang_timeout,
      "How long ranks wait for a dead rank whose node is up (faults.ranks). With a control plane, "
      "also the longest wait for a rank on a dead node. null: for ever, as without asynchronous "
      "error handling.",
      Source{"PyTorch ProcessGroupNCCL: 10 min since 2.2, 30 min before"}, Heeded{Fact::Hangs});
    v("restart_delay", restart_delay, "From the detection until the pods are recreated.",
      Source{"DefaultJobPodFailureBackOff, pkg/controller/job"}, Heeded{Fact::Restarts});
    v("restart_delay_max", restart_delay_max,
      "The delay doubles with each restart of the job (with kind: pods, of any of its pods), up "
      "to this; absent: it is constant.",
      Source{
          "absent: restarts at an even pace; Kubernetes: MaxJobPodFailureBackOff, 10 min, in older "
          "documentation 6 min"},
      Heeded{restart_delay > Duration{}, "restart_delay is 0, which does not double"},
      Heeded{Fact::Failures});
    v("termination", termination,
      "From the deletion of a preempted pod until its containers have ended, and its node "
      "is "
      "free of it; until then it computes on.",
      Range{Duration{}, 24_h},
      Source{"0: processes end at once; Kubernetes kills them after terminationGracePeriodSeconds, "
             "30 s unless the pod says otherwise"},
      Heeded{Fact::Preemption});
    v("overruns", overruns,
      "kill: a job fails for good once it has computed for its requested time since its last "
      "restart; a job of kind pods, once this time has passed since its first pod began to run. "
      "keep: it continues. Jobs without a requested time continue.",
      Source{"kill: a time limit as of Slurm, or activeDeadlineSeconds of a Job"},
      Heeded{Fact::Requests, overruns == Overruns::Kill});
  }
  template <class C>
  void check(C& c) const {
    if (restart_delay_max && *restart_delay_max < restart_delay) {
      c.error("restart_delay_max", "must not be less than restart_delay");
    }
  }
};

// How long a job may compute; max: without limit.
inline Duration time_limit(const JobSpec& spec, Overruns overruns) {
  const bool has_limit = overruns == Overruns::Kill && spec.requested >= Duration{};
  return has_limit ? spec.requested : Duration::max();
}

}  // namespace orrery
