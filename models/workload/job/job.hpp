// models/workload/job/job.hpp -- jobs, roles, gangs and pods as data for schedulers, faults and
// recorders.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "models/hardware/node_set.hpp"
#include "models/hardware/resources.hpp"
#include "models/workload/job/job_spec.hpp"
#include "sim/core/id.hpp"
#include "sim/core/time.hpp"

namespace orrery {

constexpr Time kNever{-1};  // in rows: the stage was not reached

enum class JobPhase : uint8_t {
  Pending,     // too few pods have nodes
  Starting,    // enough pods have nodes; images, start barrier, communicator init, restore
  Running,     // computes and writes checkpoints
  Hung,        // stopped by a failure or a preemption that is not detected yet
  Restarting,  // the failure is detected; lost pods are recreated after a delay
  Completed,
  Failed,     // a permanent error, or all restarts used up
  Cancelled,  // cancelled by its user
};
constexpr std::array<std::string_view, 8> enum_names(JobPhase) {
  return {"pending",    "starting",  "running", "hung",
          "restarting", "completed", "failed",  "cancelled"};
}
constexpr bool is_over(JobPhase phase) { return phase >= JobPhase::Completed; }
// Whether a gang in this phase has stopped and not restarted yet. All pods that the gang has lost
// are recreated together at the restart.
constexpr bool comes_back_whole(JobPhase phase) {
  return phase == JobPhase::Hung || phase == JobPhase::Restarting;
}

enum class PodState : uint8_t { Absent, Pending, Bound, Running, Done };
constexpr std::array<std::string_view, 5> enum_names(PodState) {
  return {"absent", "pending", "bound", "running", "done"};
}

struct Pod {
  JobId job;
  GangId gang;  // invalid for independent pods
  RoleId role;
  SpecId spec;
  NodeId node;  // valid from Bound on
  DeviceGrant grant;
  PodState state = PodState::Absent;
  int32_t rank = 0;
  // Whether the pod is a rank of its gang's present run. An elastic gang runs with the members that
  // are up when it starts.
  bool takes_part = false;
  // Whether the pod is a dedicated parameter server in its gang's present run. Such a pod does not
  // compute.
  bool serves = false;
  bool is_terminating = false;  // its deletion is stored, but its containers have not ended yet
  int64_t attempts = 0;         // scheduling attempts since (re)creation
  Time created, bound, started;
  // Increased when a new job gets this pod's id, when the pod is created, and when its creation is
  // cancelled (PodCreation::forget). So stale queue entries are recognised.
  uint64_t generation = 0;
};

struct Gang {
  JobId job;
  PodId first;
  int32_t pods = 0;
  int32_t min_available = 0;
  RoleId first_role;
  int32_t roles = 0;
  bool has_role_minimums = false;               // one of its roles has Role::min_available > 0
  int32_t created = 0;                          // pods that exist now (Pending, Bound or Running)
  int32_t bound = 0;                            // pods with a node, of those created
  Time created_at;                              // creation of the PodGroup
  Duration schedule_timeout = Duration::max();  // max: the scheduler's default
  // PodGroup.minResources: what must be free in the cluster, or held by the gang, before
  // Coscheduling lets a member be scheduled. Empty: not checked.
  std::optional<Resources> min_resources;
};

struct Role {
  JobId job;
  PodId first;
  int32_t pods = 0;
  // 0: no minimum, or a minimum that the gang's min_available implies anyway.
  int32_t min_available = 0;
  int32_t created = 0, bound = 0;  // pods that exist, pods with a node; 0 for independent pods
  uint32_t gang = 0, role = 0;     // JobSpec::gangs[gang].roles[role]
  // First of the job's roles that share this role's controller; may be this role itself.
  RoleId creator;
};

struct Job {
  uint64_t serial = 0;  // 0, 1, 2, ... in submission order; ids are recycled, serials never
  JobSpec spec;
  JobPhase phase = JobPhase::Pending;
  GangId first_gang;
  int32_t gangs = 0;        // 0 for independent pods
  bool is_elastic = false;  // one of its gangs may run without some of its pods
  RoleId first_role;
  int32_t roles = 0;
  PodId first_pod;
  int32_t pods = 0;
  // Pods requested by a counted job (JobTable::add_counted); JobTable holds no pods of such a job.
  int32_t counted_pods = 0;
  int32_t gpus = 0;  // devices of all pods together
  Resources demand;  // requests of all pods together
  int32_t priority = 0;
  std::optional<NodeSet> nodes;  // nodes that the job queue chose for its pods; empty: any
  bool is_counted() const { return counted_pods > 0; }
};

}  // namespace orrery
