// models/scheduling/contract/policy_types.hpp -- the types of the policy contract.
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
  uint64_t job_uid = 0;  // the job's serial; ids are recycled
  SpecId spec_id;
  const PodSpec* spec = nullptr;
  JobId job;
  GangId gang;  // invalid: the pod is no member of a gang
  RoleId role;  // a role with its own minimum, else invalid
  int32_t rank = 0;
  int64_t attempts = 0;  // number of earlier attempts
  Time created;
  std::string_view team = {};
  const NodeSet* nodes = nullptr;  // nodes that the job queue chose for its job; null: any
};

// How far the roles of a gang are below their minimums, summed over the roles. During Permit the
// pod of the attempt counts as one with a node.
struct RolesMissing {
  int32_t created = 0;   // minimum less created pods
  int32_t assigned = 0;  // minimum less pods with a node
  int32_t unbound = 0;   // minimum less pods with a node that are not bound
};

struct GangView {
  GangId id;
  JobId job;
  uint64_t job_uid = 0;  // the job's serial; ids are recycled
  PodId first;           // members have consecutive ids: `pods` of them, from this one on
  GangId first_of_job;   // the gangs of a job have consecutive ids, too
  int32_t gangs_of_job = 0;
  int32_t min_available = 0;
  int32_t pods = 0;     // members of the gang over its whole life
  int32_t created = 0;  // members that exist, gated ones included
  int32_t gated = 0;    // part of created: held by a PreEnqueue
  int32_t waiting = 0;  // waiting in Permit
  int32_t bound = 0;    // past Permit or bound
  int32_t binding = 0;  // part of bound: not bound yet
  int32_t priority = 0;
  Time created_at;
  Duration schedule_timeout = Duration::max();  // max: not set
  Time last_failure = Time{-1};                 // negative: none
  Time backoff_until;
  const Resources* min_resources = nullptr;  // PodGroup.minResources; null: not set
  std::string_view name;
  RolesMissing roles_missing = {};
  // Members with a node. During Permit the pod in question is in none of the counts.
  int32_t assigned() const { return waiting + bound; }
  // Members that must get a node before the gang can start, beside `asked`: 1 in Permit.
  int32_t missing(int32_t asked = 0) const {
    return std::max({min_available - assigned() - asked, roles_missing.assigned, 0});
  }
  // Whether enough members exist for the gang and its roles to start.
  bool are_enough_created() const { return created >= min_available && roles_missing.created == 0; }
};

// An entry of the scheduling queue: one pod or, with the per_gang driver, a whole gang.
struct QueuedUnit {
  PodId pod;    // the pod, or the first unscheduled member
  GangId gang;  // the pod's gang; invalid if none
  int32_t priority = 0;
  Time queued;           // when it was queued for the first time
  Time initial_attempt;  // the first scheduling attempt; equals `queued` before it
  Time gang_created;     // equals `initial_attempt` for plain pods
  // Last failure of the gang; negative: none. Updated only when the unit enters a queue or reaches
  // its head, so QueueSort must never place a unit earlier for a later failure.
  Time gang_failed = Time{-1};
};

// Domains of a whole gang: the nodes of one leaf switch that are up, a single node, or any set of
// nodes.
struct InLeaf {
  uint32_t leaf = 0;
};
using GangDomain = std::variant<NodeSet, InLeaf, NodeId>;
ORRERY_API NodeSet nodes_of(const GangDomain& domain, const ClusterState& cluster);

enum class ClusterEventKind : uint8_t {
  AssignedPodDeleted,  // a bound or assumed pod left its node
  AssignedPodAdded,
  UnscheduledPodAdded,  // a sibling may complete a gang
  NodeAdded,            // a node came up
  NodeChanged,          // taints, labels or cordon
};
constexpr std::array<std::string_view, 5> enum_names(ClusterEventKind) {
  return {"AssignedPodDeleted", "AssignedPodAdded", "UnscheduledPodAdded", "NodeAdded",
          "NodeChanged"};
}
using ClusterEvents = uint32_t;  // a set of kinds
constexpr ClusterEvents bit_of(ClusterEventKind kind) {
  return ClusterEvents{1} << static_cast<unsigned>(kind);
}
struct ClusterEvent {
  ClusterEventKind kind = ClusterEventKind::AssignedPodDeleted;
  NodeId node;  // where; invalid: none, or equal pods on several nodes at one instant
  SpecId spec;  // of the pod, for pod events
  GangId gang;  // gang of the pod, if any
  // The pod that lost a reservation and stays: the event helps others, not this pod.
  PodId own = {};
};
enum class QueueHint : uint8_t { Skip, Queue };

}  // namespace orrery
