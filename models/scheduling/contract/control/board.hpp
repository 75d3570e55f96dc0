// models/scheduling/contract/control/board.hpp -- the state that a controller sees, and the
// extension point that it implements.
//
// A controller is a policy with a clock: tick() is called once per `period` (policy.controllers),
// unless the controller idles (see Actions). Its constructor takes a board and parameters.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/hardware/cluster_state.hpp"
#include "models/scheduling/contract/control/actions.hpp"
#include "models/scheduling/contract/placements.hpp"
#include "models/scheduling/contract/policy.hpp"
#include "models/scheduling/contract/policy_types.hpp"
#include "models/workload/job/job.hpp"
#include "sim/core/rng.hpp"

namespace orrery {

struct JobView {
  JobId id;
  uint64_t serial = 0;  // ids are recycled, serials never
  std::string_view name, user, team;
  JobPhase phase = JobPhase::Pending;
  WorkloadKind owner = WorkloadKind::Job;  // the controller that creates its pods
  bool is_gang = false;  // its pods form one communicator; false: its pods are independent
  bool is_service = false;
  bool is_suspended = false;     // suspended by SuspendJob, and not resumed yet
  bool has_checkpoints = false;  // if suspended, the job keeps its progress
  int32_t priority = 0;
  int32_t gpus = 0;  // sum over all pods
  PodId first_pod;   // pods have consecutive ids
  int32_t pods = 0;
  int32_t pods_bound = 0;
  Time submitted;
};

struct WaitingJob {
  JobId job;
  Time since;  // begin of the uninterrupted wait
};

// A pool that may be scaled. A controller needs no template of a new node: ControlBoard::cluster()
// has the labels, taints and resources of absent nodes, too.
struct PoolView {
  std::string_view name;
  std::span<const NodeId> nodes;  // absent ones included
  uint32_t size = 0;              // present and requested nodes
  uint32_t size_min = 0, size_max = 0;
  uint32_t asked = 0;         // part of `size`: nodes that are requested and not ready yet
  uint32_t unregistered = 0;  // nodes that are absent, or requested and without a Node object
  Time backs_off_until = {};  // set after requested nodes did not come in time
};
enum class PoolNodeState : uint8_t {
  Foreign,  // in a pool that may not be scaled
  Absent,
  Asked,   // requested, and not registered yet
  Joined,  // registered, and not ready yet
  Member   // has been ready at least once
};

struct NodeChange {
  Time at;
  NodeId node;
  bool is_up = false;
};
// A gang failed (ranks died, exited or aborted an exchange) without an eviction or a preemption.
struct GangFailure {
  Time at;  // when the failure was detected
  JobId job;
  uint64_t serial = 0;
  std::vector<NodeId> nodes;  // nodes of the gang's pods, ascending
};

// The state at the present instant. Returned spans are valid until the tick ends.
class ORRERY_API ControlBoard {
 public:
  virtual ~ControlBoard() = default;
  virtual Time now() const = 0;
  virtual Rng rng(std::string_view stream) const = 0;
  virtual const ClusterState& cluster() const = 0;
  virtual const SpecTable& specs() const = 0;
  virtual const Placements& placements() const = 0;

  // ---- jobs and pods
  virtual bool is_live(JobId job) const = 0;  // false: the job is over, and its id is not valid
  virtual bool is_live(PodId pod) const = 0;  // false: the pod's job is over
  virtual JobView job(JobId job) const = 0;
  virtual std::vector<JobId> jobs() const = 0;  // live jobs, in order of id
  virtual PodView pod(PodId pod) const = 0;
  virtual bool is_ready(PodId pod) const = 0;  // its containers run, and it is not terminating
  virtual bool is_terminating(PodId pod) const = 0;
  // Compute that each GPU would lose if the pod's gang (or the pod, if it has no gang) ended now.
  virtual Duration unsaved(PodId pod) const = 0;
  // Pending jobs, longest wait first, including those that a job queue holds.
  virtual std::span<const WaitingJob> waiting() const = 0;
  virtual bool is_held(JobId job) const = 0;  // the job queue holds the job: its pods do not exist
  // Number of pods of live jobs without gangs. Pods without a node are counted, too.
  virtual int64_t lone_pods() const = 0;
  virtual int64_t lone_pods_with_siblings() const = 0;  // lone pods whose job has other pods, too
  // Pods that found no node, each with the time of its first failed attempt. After a failed attempt
  // to place a gang as a whole, all pods of the gang that have no node are listed.
  struct Unplaced {
    PodId pod;
    Time since;
  };
  virtual std::vector<Unplaced> unplaced() const = 0;
  // Ids of the budgets that select the pod. A bound pod with several budgets cannot be evicted.
  virtual std::vector<uint32_t> budgets(PodId pod) const = 0;
  virtual int32_t disruptions_allowed(uint32_t budget) const = 0;  // evictions allowed now

  // ---- nodes
  virtual bool is_ready(NodeId node) const = 0;   // as the node lifecycle controller sees it
  virtual uint32_t nodes_not_ready() const = 0;   // nodes with a Node object that are not ready
  virtual bool is_broken(NodeId node) const = 0;  // broken by a fault and not repaired
  virtual bool is_draining(NodeId node) const = 0;
  // NICs without a link, as the node's own counters show; 0 without network.level: flow.
  virtual uint32_t ports_down(NodeId node) const = 0;
  // Changes of nodes and failures of gangs since this controller's last tick, ordered by time.
  virtual std::span<const NodeChange> node_changes() const = 0;
  virtual std::span<const GangFailure> gang_failures() const = 0;

  // ---- pools of control_plane.autoscaler.groups, in the order of that list
  virtual std::span<const PoolView> pools() const = 0;
  virtual PoolNodeState pool_state(NodeId node) const = 0;
  virtual uint32_t pool_of(NodeId node) const = 0;  // meaningless for Foreign nodes
};

struct ORRERY_API ControllerPoint {  // base of the points of controllers
  virtual ~ControllerPoint() = default;
};

struct ControllerFigure {  // a figure of the summary; figures of equal name are added up
  std::string_view name;
  int64_t value = 0;
  std::string_view unit, doc;
};

class ORRERY_API Controller : public ControllerPoint {
 public:
  static constexpr PointName kPoint{"Controller", "called periodically; may act on the cluster"};
  virtual void tick(const ControlBoard& board, Actions& actions) = 0;
  virtual std::vector<ControllerFigure> figures() const { return {}; }
};

}  // namespace orrery
