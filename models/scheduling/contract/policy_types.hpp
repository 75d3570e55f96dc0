// models/scheduling/contract/policy_types.hpp -- the nouns of the policy contract.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "models/hardware/cluster_state.hpp"
#include "models/workload/job/pod_spec.hpp"
#include "sim/core/time.hpp"

#define ORRERY_API __attribute__((visibility("default")))

namespace orrery {

enum class Code : uint8_t {
  Success,
  Error,                         // the attempt is repeated after a backoff; no plugin is blamed
  Unschedulable,                 // not now; preemption or a later event may help
  UnschedulableAndUnresolvable,  // whatever is evicted
  Wait,                          // Permit only
  Skip,                          // nothing to say about this pod
  Pending,  // Unschedulable, and the hinted event moves it straight to the active queue
};
constexpr std::array<std::string_view, 7> enum_names(Code) {
  return {"Success", "Error", "Unschedulable", "UnschedulableAndUnresolvable",
          "Wait",    "Skip",  "Pending"};
}

struct [[nodiscard]] Status {
  Code code = Code::Success;
  std::string_view reason = {};  // must outlive the cycle: a literal, or owned by the policy
  bool ok() const { return code == Code::Success; }
};
struct [[nodiscard]] PermitStatus {
  Code code = Code::Success;
  Duration timeout = {};  // of a Wait
  std::string_view reason = {};
};

struct PodView {
  PodId id;
  SpecId spec_id;
  const PodSpec* spec = nullptr;
  JobId job;
  GangId gang;  // invalid: the pod is no member of a gang
  int32_t rank = 0;
  int32_t attempts = 0;  // earlier ones
  Time created;
};

struct GangView {
  GangId id;
  JobId job;
  PodId first;          // members have consecutive ids: `pods` of them, from this one on
  GangId first_of_job;  // so have the gangs of a job
  int32_t gangs_of_job = 0;
  int32_t min_available = 0;
  int32_t pods = 0;     // members the job will ever have
  int32_t created = 0;  // members that exist, gated ones included
  int32_t gated = 0;    // of these, held by a PreEnqueue
  int32_t waiting = 0;  // in Permit
  int32_t bound = 0;    // past Permit or bound
  int32_t binding = 0;  // of these, not bound yet
  int32_t priority = 0;
  Time created_at;
  Duration schedule_timeout = Duration::max();  // max: not set
  Time last_failure = Time{-1};                 // negative: none
  Time backoff_until;
  const Resources* min_resources = nullptr;  // PodGroup.minResources; null: not set
  std::string_view name;
  // With a node. While Permit is asked about a pod, that pod is in none of the counts.
  int32_t assigned() const { return waiting + bound; }
};

// What stands in the queue: one pod, or with the per_gang driver a whole gang.
struct QueuedUnit {
  PodId pod;    // the pod, or the first unscheduled member
  GangId gang;  // the pod's gang; invalid if none
  int32_t priority = 0;
  Time queued;           // of this stay in the queue
  Time initial_attempt;  // the first scheduling attempt; equals `queued` before it
  Time gang_created;     // equals `initial_attempt` for plain pods
  // Last failure of the gang; negative: none. Brought up to date when the unit enters a queue or
  // gets to its head, so a later one must not sort before an earlier one.
  Time gang_failed = Time{-1};
};

// Where a whole gang may be tried: on the nodes of one leaf switch that are up, on a single node,
// or on any set of them.
struct InLeaf {
  uint32_t leaf = 0;
};
using GangDomain = std::variant<NodeSet, InLeaf, NodeId>;
ORRERY_API NodeSet nodes_of(const GangDomain& domain, const ClusterState& cluster);

struct Cycle {
  Time now;
  const ClusterState& cluster;
  const PodView& pod;
};

struct Rejection {
  uint8_t plugin = 0;  // index of the Filter in the profile
  std::string_view reason;
  bool is_unresolvable = false;
  uint32_t nodes = 0;
  bool is_noted = false;  // its nodes fell out for another reason
};

// The nodes a pod may still go to, and why the others fell out.
class ORRERY_API Candidates {
 public:
  explicit Candidates(NodeSet nodes) : nodes_{std::move(nodes)} {}
  const NodeSet& nodes() const { return nodes_; }

  // Keeps the members of `allowed`, or all but those of `banned`.
  void keep(const NodeSet& allowed, Status why_not);
  void drop(const NodeSet& banned, Status why_not);
  // Keeps the nodes for which `fits(NodeId)` holds.
  template <class Fits>
  void keep_if(Fits&& fits, Status why_not) {
    begin(why_not);
    nodes_.keep_if([&](NodeId n) {
      const bool kept = fits(n);
      if (!kept) count(n);
      return kept;
    });
    end();
  }
  // One more reason for nodes that were (or will be) counted under another; messages only.
  void note(Status why_not, uint32_t nodes);

  void set_plugin(uint8_t plugin) { plugin_ = plugin; }
  // Collects `unresolvable()` too; costs a set, so only failed attempts ask for it.
  void keep_unresolvable(bool on) { wants_unresolvable_ = on; }
  // Collects the nodes of each rejection, too, for the record.
  void keep_rejected(bool on) { wants_rejected_ = on; }
  std::span<const Rejection> rejections() const { return rejections_; }
  const NodeSet& unresolvable() const { return unresolvable_; }
  std::span<const NodeSet> rejected() const { return rejected_; }  // by rejection; none if noted
  void reset(const NodeSet& nodes);

 private:
  void begin(Status why_not);
  void count(NodeId n);
  void end();
  NodeSet nodes_, unresolvable_, before_;
  std::vector<Rejection> rejections_;
  std::vector<NodeSet> rejected_;
  Rejection current_;
  uint8_t plugin_ = 0;
  bool wants_unresolvable_ = false, wants_rejected_ = false;
};

// Why an attempt found no node.
struct Diagnosis {
  const Candidates& candidates;
  std::string_view pre_filter_reason;  // not empty: no node was looked at
  uint32_t plugins = 0;                // bit per plugin (profile order) that rejected
};

enum class ClusterEventKind : uint8_t {
  AssignedPodDeleted,  // a bound or assumed pod left its node
  AssignedPodAdded,
  UnscheduledPodAdded,  // a sibling may complete a gang
  NodeAdded,            // came up
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
  NodeId node;     // where; invalid: nowhere, or alike pods on several nodes at one instant
  SpecId spec;     // of the pod, for pod events
  GangId gang;     // of the pod, if it is in one
  PodId own = {};  // the pod, if it lost a reservation and stays: others may gain, it does not
};
enum class QueueHint : uint8_t { Skip, Queue };

}  // namespace orrery
