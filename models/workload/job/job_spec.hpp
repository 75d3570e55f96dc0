// models/workload/job/job_spec.hpp -- a job as a source submits it; nothing changes it later.
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

enum class JobKind : uint8_t { Pods, MpiGang };  // independent pods; one communicator
constexpr std::array<std::string_view, 2> enum_names(JobKind) { return {"pods", "mpi_gang"}; }

enum class RestartScope : uint8_t { Gang, Pod };  // after a lost pod: all anew, or just that one
constexpr std::array<std::string_view, 2> enum_names(RestartScope) { return {"gang", "pod"}; }

// Whether pods that ended by themselves are started again; what ends with their node always is.
enum class RestartPolicy : uint8_t { Never, OnFailure, Always, ExitCode };
constexpr std::array<std::string_view, 4> enum_names(RestartPolicy) {
  return {"never", "on_failure", "always", "exit_code"};
}

// What it means for the job when pods of a role have succeeded.
enum class RoleSuccess : uint8_t {
  Counts,   // the job completes once all pods of all such roles have
  Decides,  // the job completes once all pods of this role have
  Ignored
};
constexpr std::array<std::string_view, 3> enum_names(RoleSuccess) {
  return {"counts", "decides", "ignored"};
}
// What it means when a pod has failed for good.
enum class RoleFailure : uint8_t { FailsJob, Ignored };
constexpr std::array<std::string_view, 2> enum_names(RoleFailure) {
  return {"fails_job", "ignored"};
}

// What becomes of pods that still run when their job is over.
enum class CleanUp : uint8_t { Running, None };
constexpr std::array<std::string_view, 2> enum_names(CleanUp) { return {"running", "none"}; }

constexpr Duration kNotRequested{-1};
// Longer than any run that has an end: 200 years.
constexpr Duration kNeverEnds = 365_d * 200;

struct RoleSpec {  // alike pods
  PodSpec spec;
  int32_t pods = 1;
  // Of these, those that its gang needs to start, beside min_available pods of any role; 0: none.
  int32_t min_available = 0;
  std::string name = {};
  std::optional<WorkloadKind> controller = {};  // none: the job's, with the other such roles
  bool takes_part = true;                       // of a gang: its pods are ranks of the communicator
  bool exits = true;  // false: its pods run until the job is over, as parameter servers do
  RoleSuccess success = RoleSuccess::Counts;
  RoleFailure failure = RoleFailure::FailsJob;
  RestartPolicy restart = RestartPolicy::OnFailure;
  std::optional<int32_t> backoff_limit = {};  // restarts of its pods; none: for ever
  bool saves = true;                          // its pods write checkpoints
  CleanUp clean_up = CleanUp::Running;
  std::vector<DrawnEndingParams> endings = {};
};

struct GangSpec {  // pods that a scheduler may have to place together
  std::vector<RoleSpec> roles;
  int32_t min_available = 0;                    // 0: all pods
  std::optional<Resources> min_resources = {};  // PodGroup.minResources; none: not checked
};

struct JobSpec {
  int64_t external_id = 0;  // as the trace or the scenario numbers it
  std::string name, user, team;
  std::string application;  // what it runs: a model, a program; empty: not known
  JobKind kind = JobKind::Pods;
  WorkloadKind controller = WorkloadKind::Job;
  Time submitted;
  Duration work;  // compute time of the whole job, without waits and checkpoints
  Duration requested = kNotRequested;  // how long its user said it would take at most
  // After its submission: then its user cancels the job unless it has started; none: never.
  std::optional<Duration> cancel_after;
  std::optional<Ending> ending;  // how it ends for good if nothing else ends it; as recorded
  std::vector<GangSpec> gangs;   // at least one, each with at least one pod
  Duration checkpoint_interval;  // compute time between checkpoints; 0: never
  Duration checkpoint_write;     // synchronous time of one checkpoint
  Duration restore;              // time to load the last checkpoint
  Duration init, init_per_gpu;   // set-up after the start barrier; see init_time()
  std::shared_ptr<const CommunicatorParams> communicator;  // none: ranks connect in no time
  std::shared_ptr<const CheckpointParams> checkpoint;  // to a store, in place of write and restore
  std::shared_ptr<const StepParams> step;              // none: exchanges take no time
  std::shared_ptr<const DatasetParams> dataset;        // read as it trains; needs a step
  std::shared_ptr<const ServiceParams> service;        // of independent pods: it is a service
  RestartScope restart_scope = RestartScope::Gang;
  std::optional<int32_t> restarts_max;       // none: for ever
  std::optional<Duration> schedule_timeout;  // PodGroup.scheduleTimeoutSeconds; none: the plugin's
};

}  // namespace orrery
