// models/workload/job/job.hpp -- jobs, gangs and pods as data: what schedulers, faults and
// recorders read.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/hardware/resources.hpp"
#include "models/workload/job/pod_spec.hpp"
#include "models/workload/job/workload_kind.hpp"
#include "sim/core/id.hpp"
#include "sim/core/time.hpp"

namespace orrery {

struct CheckpointParams;
struct CommunicatorParams;
struct DatasetParams;
struct ServiceParams;
struct StepParams;

enum class JobKind : uint8_t { Pods, MpiGang };  // independent pods; one communicator
constexpr std::array<std::string_view, 2> enum_names(JobKind) { return {"pods", "mpi_gang"}; }

enum class JobPhase : uint8_t {
  Pending,     // some pods lack a node
  Starting,    // all bound; images, start barrier, communicator init, restore
  Running,     // computes and writes checkpoints
  Hung,        // ranks wait for a dead one; nobody has noticed yet
  Restarting,  // stopped after a failure, its pods are about to be created again
  Completed,
  Failed,  // gave up: restarts used up
};
constexpr std::array<std::string_view, 7> enum_names(JobPhase) {
  return {"pending", "starting", "running", "hung", "restarting", "completed", "failed"};
}
constexpr bool is_over(JobPhase phase) { return phase >= JobPhase::Completed; }
// A gang that is down: those of its pods that are gone come back together, when it restarts.
constexpr bool comes_back_whole(JobPhase phase) {
  return phase == JobPhase::Hung || phase == JobPhase::Restarting;
}

enum class PodState : uint8_t { Absent, Pending, Bound, Running, Done };
constexpr std::array<std::string_view, 5> enum_names(PodState) {
  return {"absent", "pending", "bound", "running", "done"};
}

enum class RestartScope : uint8_t { Gang, Pod };  // after a lost pod: all anew, or just that one
constexpr std::array<std::string_view, 2> enum_names(RestartScope) { return {"gang", "pod"}; }

constexpr Duration kNotRequested{-1};

// A job as a source submits it.
struct JobRequest {
  struct Role {  // `pods` alike pods of the gang
    PodSpec spec;
    int32_t pods = 1;
  };
  struct Gang {
    std::vector<Role> roles;
    int32_t min_available = 0;                    // 0: all pods
    std::optional<Resources> min_resources = {};  // PodGroup.minResources; none: not checked
  };
  int64_t external_id = 0;  // as the trace or the scenario numbers it
  std::string name, user, team;
  std::string application;  // what it runs: a model, a program; empty: not known
  JobKind kind = JobKind::Pods;
  WorkloadKind controller = WorkloadKind::Job;
  Time submitted;
  Duration work;  // compute time of the whole job, without waits and checkpoints
  Duration requested = kNotRequested;  // how long its user said it would take at most
  std::vector<Gang> gangs;             // at least one, each with at least one pod
  Duration checkpoint_interval;        // compute time between checkpoints; 0: never
  Duration checkpoint_write;           // synchronous time of one checkpoint
  Duration restore;                    // time to load the last checkpoint
  Duration init, init_per_gpu;         // set-up after the start barrier; see init_time()
  std::shared_ptr<const CommunicatorParams> communicator;  // none: ranks meet in no time
  std::shared_ptr<const CheckpointParams> checkpoint;  // to a store, in place of write and restore
  std::shared_ptr<const StepParams> step;              // none: exchanges take no time
  std::shared_ptr<const DatasetParams> dataset;        // read as it trains; needs a step
  std::shared_ptr<const ServiceParams> service;        // of independent pods: it is a service
  RestartScope restart_scope = RestartScope::Gang;
  std::optional<int32_t> restarts_max;       // none: for ever
  std::optional<Duration> schedule_timeout;  // PodGroup.scheduleTimeoutSeconds; none: the plugin's
};

struct Pod {
  JobId job;
  GangId gang;  // invalid for independent pods
  SpecId spec;
  NodeId node;  // valid from Bound on
  DeviceGrant grant;
  PodState state = PodState::Absent;
  int32_t rank = 0;
  bool takes_part = false;  // in the run of its gang; of an elastic one if it was up in time
  bool serves = false;      // in that run it is a dedicated parameter server, and computes nothing
  int32_t attempts = 0;     // scheduling attempts since (re)creation
  Time created, bound, started;
  uint64_t generation = 0;  // raised at each re-creation: stale queue entries show
};

struct Gang {
  JobId job;
  PodId first;
  int32_t pods = 0;
  int32_t min_available = 0;
  int32_t created = 0;                          // pods that exist now (Pending, Bound or Running)
  int32_t bound = 0;                            // of these, with a node
  int32_t up = 0;                               // of these, with containers; of elastic jobs alone
  uint32_t pods_started = 0;                    // all in all
  Time created_at;                              // of the PodGroup
  Duration schedule_timeout = Duration::max();  // max: the plugin's default
  std::optional<Resources> min_resources;       // as a whole, before any member is tried
};

struct Job {
  uint64_t serial = 0;  // 0, 1, 2, ... in submission order; ids are recycled, serials never
  int64_t external_id = 0;
  std::string name, user, team, application;
  JobKind kind = JobKind::Pods;
  WorkloadKind controller = WorkloadKind::Job;
  JobPhase phase = JobPhase::Pending;
  GangId first_gang;
  int32_t gangs = 0;        // 0 for independent pods
  bool is_elastic = false;  // a gang of it may run without some of its pods
  PodId first_pod;
  int32_t pods = 0;
  int32_t counted_pods = 0;  // of a counted job, which has none in the table: how many it asked for
  int32_t gpus = 0;          // devices over all pods
  Resources demand;          // of all pods together
  int32_t priority = 0;
  Time submitted;
  Duration work, checkpoint_interval, checkpoint_write, restore, init, init_per_gpu;
  Duration requested = kNotRequested;
  std::shared_ptr<const CommunicatorParams> communicator;
  std::shared_ptr<const CheckpointParams> checkpoint;
  std::shared_ptr<const StepParams> step;
  std::shared_ptr<const DatasetParams> dataset;
  std::shared_ptr<const ServiceParams> service;
  RestartScope restart_scope = RestartScope::Gang;
  std::optional<int32_t> restarts_max;
  bool is_counted() const { return counted_pods > 0; }
};

}  // namespace orrery
