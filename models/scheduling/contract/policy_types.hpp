// models/scheduling/contract/policy_types.hpp -- pods, gangs, queued units, domains and events as
// policies see them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "models/hardware/cluster_state.hpp"
#include "models/scheduling/contract/status.hpp"
#include "models/workload/job/pod_spec.hpp"
#include "sim/core/time.hpp"

namespace orrery {

struct PodView {
  PodId id;
  uint64_t job_uid = 0;  // the job's serial number; unlike `job` it is never reused
  SpecId spec_id;
  const PodSpec* spec = nullptr;
  JobId job;
  GangId gang;  // invalid: the pod is no member of a gang
  RoleId role;  // invalid: the role has no minimum of its own
  int32_t rank = 0;
  // Number of attempts so far, including the running one.
  int64_t attempts = 0;
  Time created;
  std::string_view team = {};
  // The nodes to which the job queue restricts the pod's job; null: all nodes.
  const NodeSet* nodes = nullptr;
};

// How many pods the roles of a gang lack, summed over all roles that are below their minimum. The
// three fields differ in which pods count towards a minimum. During Permit the pod of the attempt
// counts as a pod with a node. Example: two roles with a minimum of 2 have 1 and 3 pods with a
// node, so `assigned` is 1.
struct RolesMissing {
  int32_t created = 0;   // pods that exist count
  int32_t assigned = 0;  // pods that have a node count
  int32_t unbound = 0;   // only pods that have a node and are not bound count
};

struct GangView {
  GangId id;
  JobId job;
  uint64_t job_uid = 0;  // the job's serial number; unlike `job` it is never reused
  PodId first;           // the first member; the others have the `pods` - 1 ids after it
  GangId first_of_job;   // first gang of the job; the others have the ids after it
  int32_t gangs_of_job = 0;
  int32_t min_available = 0;
  int32_t pods = 0;     // members, whether or not they exist now
  int32_t created = 0;  // members that exist, gated ones included
  // Members that a PreEnqueue plugin gates. With driver per_gang: 1 if the gang is gated, else 0.
  int32_t gated = 0;
  // Members that wait in Permit. In the gang's own cycle (per_gang driver), the members placed so
  // far are counted, too.
  int32_t waiting = 0;
  int32_t bound = 0;    // members past Permit, bound or not
  int32_t binding = 0;  // members past Permit that are not bound
  int32_t priority = 0;
  Time created_at;
  Duration schedule_timeout = Duration::max();  // max: not set
  Time last_failure = Time{-1};                 // negative: no failure
  Time backoff_until;
  const Resources* min_resources = nullptr;  // PodGroup.minResources; null: not set
  std::string_view name;
  RolesMissing roles_missing = {};
  // Members with a node. During Permit the pod of the attempt is not counted.
  int32_t assigned() const { return waiting + bound; }
  // How many members still need a node before the gang can start. `asked` is added to assigned():
  // Permit plugins pass 1, for the pod of the attempt.
  int32_t missing(int32_t asked = 0) const {
    return std::max({min_available - assigned() - asked, roles_missing.assigned, 0});
  }
  // Whether enough members exist for the gang and its roles to start.
  bool are_enough_created() const { return created >= min_available && roles_missing.created == 0; }
};

// An entry of the scheduling queue: one pod or, with the per_gang driver, a whole gang.
struct QueuedUnit {
  PodId pod;    // the pod, or the first member of the gang
  GangId gang;  // the pod's gang; invalid: the pod has no gang
  int32_t priority = 0;
  Time queued;  // when the unit was queued or, if later, when its latest attempt failed
  // Start of the first scheduling attempt; until then, the time at which the unit became active.
  Time initial_attempt;
  // When the gang was created. Without a gang: a copy of `initial_attempt`, made when the unit is
  // queued, and again when it stops being gated. Attempts do not change the copy.
  Time gang_created;
  // A copy of the gang's last failure time, which a policy sets with set_gang_failure(); negative:
  // no failure. The queue updates the copy only when the unit enters the active or a backoff queue,
  // or is at the front of one. So a QueueSort must never move a unit forward after a failure: the
  // queue would not notice the failure until the unit is at the front.
  Time gang_failed = Time{-1};
};

struct InLeaf {
  uint32_t leaf = 0;
};
// A domain in which a whole gang is tried: a set of nodes, one leaf switch (its nodes that are up),
// or a single node.
using GangDomain = std::variant<NodeSet, InLeaf, NodeId>;
ORRERY_API NodeSet nodes_of(const GangDomain& domain, const ClusterState& cluster);

enum class ClusterEventKind : uint8_t {
  AssignedPodDeleted,  // a bound or assumed pod has left its node
  AssignedPodAdded,
  UnscheduledPodAdded,  // the new pod may complete its gang
  NodeAdded,            // a node came up
  NodeChanged,          // the node's taints or cordon changed, or it went down
};
constexpr std::array<std::string_view, 5> enum_names(ClusterEventKind) {
  return {"AssignedPodDeleted", "AssignedPodAdded", "UnscheduledPodAdded", "NodeAdded",
          "NodeChanged"};
}
using ClusterEvents = uint32_t;  // a set of ClusterEventKinds, one bit each
constexpr ClusterEvents bit_of(ClusterEventKind kind) {
  return ClusterEvents{1} << static_cast<unsigned>(kind);
}
struct ClusterEvent {
  ClusterEventKind kind = ClusterEventKind::AssignedPodDeleted;
  NodeId node;  // invalid: no node, or equal events on several nodes at one instant
  SpecId spec;  // spec of the pod, in pod events
  GangId gang;  // gang of the pod, if any
  // The pod that caused the event by getting or losing a reservation. The event may help other
  // units, but not the unit of this pod.
  PodId own = {};
};
enum class QueueHint : uint8_t { Skip, Queue };

}  // namespace orrery
