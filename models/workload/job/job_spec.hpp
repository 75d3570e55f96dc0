// models/workload/job/job_spec.hpp -- the specification of a job; fixed once the job is submitted.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/hardware/resources.hpp"
#include "models/workload/job/ending.hpp"
#include "models/workload/job/pod_spec.hpp"
#include "models/workload/job/workload_kind.hpp"
#include "sim/core/time.hpp"

namespace orrery {

struct CheckpointParams;
struct CommunicatorParams;
struct DatasetParams;
struct ServiceParams;
struct StepParams;

// Independent pods, or gangs whose ranks share one communicator.
enum class JobKind : uint8_t { Pods, MpiGang };
constexpr std::array<std::string_view, 2> enum_names(JobKind) { return {"pods", "mpi_gang"}; }

// Which pods are recreated after the loss of a pod: all pods of the gang, or the lost pod alone.
// All ranks restart in both cases.
enum class RestartScope : uint8_t { Gang, Pod };
constexpr std::array<std::string_view, 2> enum_names(RestartScope) { return {"gang", "pod"}; }

// Which exited pods are recreated: none, the failed pods, all, or the pods with a retryable exit
// code. Under every policy, pods that are lost with their node are recreated.
enum class RestartPolicy : uint8_t { Never, OnFailure, Always, ExitCode };
constexpr std::array<std::string_view, 4> enum_names(RestartPolicy) {
  return {"never", "on_failure", "always", "exit_code"};
}

// Condition for the completion of a job of kind `pods`. A pod is done if it has succeeded, or has
// failed for good in a role with RoleFailure::Ignored.
enum class RoleSuccess : uint8_t {
  Counts,   // if no role has Decides: all pods of Counts roles with RoleSpec::exits are done
  Decides,  // all pods of one Decides role are done
  Ignored   // the role has no effect
};
constexpr std::array<std::string_view, 3> enum_names(RoleSuccess) {
  return {"counts", "decides", "ignored"};
}
// The effect on the job when a pod has failed for good.
enum class RoleFailure : uint8_t { FailsJob, Ignored };
constexpr std::array<std::string_view, 2> enum_names(RoleFailure) {
  return {"fails_job", "ignored"};
}

// Whether a role's running pods are deleted when their job is over. Ranks are always deleted.
enum class CleanUp : uint8_t { Running, None };
constexpr std::array<std::string_view, 2> enum_names(CleanUp) { return {"running", "none"}; }

constexpr Duration kNotRequested{-1};
// Stands for work without an end: 200 years.
constexpr Duration kNeverEnds = 365_d * 200;

struct RoleSpec {  // equal pods
  PodSpec spec;
  int32_t pods = 1;
  // To start, the gang needs this many pods of this role, and GangSpec::min_available pods in all.
  // 0: the role has no minimum.
  int32_t min_available = 0;
  std::string name = {};
  // The kind of controller that creates the role's pods. If empty, the job's own controller creates
  // them, together with the pods of all other roles whose `controller` is empty.
  std::optional<WorkloadKind> controller = {};
  bool takes_part = true;  // in a gang: its pods are ranks of the communicator
  bool exits = true;       // false: its pods run until the job is over, like parameter servers
  RoleSuccess success = RoleSuccess::Counts;
  RoleFailure failure = RoleFailure::FailsJob;
  RestartPolicy restart = RestartPolicy::OnFailure;
  // Maximum number of restarts of the role's pods after failures; empty: unlimited.
  std::optional<int32_t> backoff_limit = {};
  bool saves = true;  // its pods write checkpoints
  CleanUp clean_up = CleanUp::Running;
  std::vector<DrawnEndingParams> endings = {};
};

struct GangSpec {  // pods that a scheduler may have to place together
  std::vector<RoleSpec> roles;
  int32_t min_available = 0;                    // 0: all pods
  std::optional<Resources> min_resources = {};  // PodGroup.minResources; empty: not checked
};

struct JobSpec {
  int64_t external_id = 0;  // number in the trace or the scenario
  std::string name, user, team;
  std::string application;  // a model or a program; empty: unknown
  JobKind kind = JobKind::Pods;
  WorkloadKind controller = WorkloadKind::Job;
  Time submitted;
  // Compute time of the job, or of each independent pod, without waits and checkpoints.
  Duration work;
  Duration requested = kNotRequested;  // the user's estimate of its duration
  // Time after submission at which the user cancels the job unless it has started; empty: never.
  std::optional<Duration> cancel_after;
  // A planned end, such as the end that a trace records; another event may end the job earlier.
  std::optional<Ending> ending;
  std::vector<GangSpec> gangs;   // at least one, each with at least one pod
  Duration checkpoint_interval;  // compute time between checkpoints; 0: never
  Duration checkpoint_write;     // how long one checkpoint stops compute
  Duration restore;              // time to load the last checkpoint
  Duration init, init_per_gpu;   // set-up after the start barrier; see init_time()
  std::shared_ptr<const CommunicatorParams> communicator;  // empty: ranks connect in no time
  // How a gang writes checkpoints to a store and reads them; replaces checkpoint_write and restore.
  // Empty: no store.
  std::shared_ptr<const CheckpointParams> checkpoint;
  std::shared_ptr<const StepParams> step;        // empty: exchanges take no time
  std::shared_ptr<const DatasetParams> dataset;  // read during training; needs a step
  // The pods are replicas of this service; empty: no service.
  std::shared_ptr<const ServiceParams> service;
  RestartScope restart_scope = RestartScope::Gang;
  std::optional<int32_t> restarts_max;  // empty: unlimited
  // PodGroup.scheduleTimeoutSeconds; empty: the scheduler's default.
  std::optional<Duration> schedule_timeout;
};

}  // namespace orrery
