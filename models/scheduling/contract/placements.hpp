// models/scheduling/contract/placements.hpp -- all placed pods, by node, gang, job and team.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "models/hardware/cluster_state.hpp"
#include "models/scheduling/contract/policy_types.hpp"
#include "models/workload/job/pod_spec.hpp"
#include "models/workload/job/pods_on_nodes.hpp"

namespace orrery {

// Whether pods of this spec have all these labels.
ORRERY_API bool has_labels(const PodSpec& spec, std::span<const NodeLabel> labels);

// Which placed pods to count, and in which domains.
struct PodGroup {
  enum class Members : uint8_t {
    Labelled,       // pods with all these labels
    KeepingAway,    // pods with an anti-affinity term that has these labels and this topology key
    AnyKeepingAway  // pods with any anti-affinity term
  };
  PodTopology topology_key = PodTopology::Hostname;
  Members members = Members::Labelled;
  std::vector<NodeLabel> labels = {};
  std::string team = {};  // empty: pods of all teams
  bool operator==(const PodGroup&) const = default;
};

struct PodCounts {
  std::vector<int32_t> in;  // number of pods of the group by domain (by node or by leaf)
  NodeSet where;            // nodes of the domains that have a pod of the group
  int64_t total = 0, domains_with_any = 0;
};

struct GangPlacement {
  int32_t pods = 0;
  NodeId home;     // node of the first placed member; valid while the gang has placed pods
  Resources held;  // sum over the placed members
};

struct Placed {
  NodeId node;  // invalid: the pod is not placed
  DeviceGrant grant;
  Time since;  // when the pod got its node
  SpecId spec;
  GangId gang;
  RoleId role;  // invalid: the role has no minimum of its own, as in PodView
  JobId job;
  int32_t priority = 0;
  uint32_t team = 0;  // number of the team, from 1; 0: none
  uint32_t slot = 0;  // index of the pod in of_job()
};

// Pods that are bound or have a reserved node. During a gang's attempt or a what-if, this state is
// hypothetical: the class Transaction changes it, and undoes these changes at the end.
// Example: in a gang of 2, pod A is bound on node 5, and node 7 is reserved for pod B. So of_gang()
// counts 2 pods. In a what-if that evicts B, of_gang() counts 1 pod.
class ORRERY_API Placements {
 public:
  Placements(const ClusterState& cluster, const SpecTable& specs);
  Placements(const Placements&) = delete;
  Placements& operator=(const Placements&) = delete;

  const Placed& of(PodId pod) const { return pod.index < pods_.size() ? pods_[pod] : nowhere_; }
  NodeId node_of(PodId pod) const { return of(pod).node; }
  std::vector<PodId> on_node(NodeId node) const;   // in no particular order
  std::span<const PodId> of_job(JobId job) const;  // in no particular order
  GangPlacement of_gang(GangId gang) const;
  // The number of placed pods of the role. The role must have its own minimum.
  int32_t of_role(RoleId role) const;
  size_t pods() const { return total_; }
  // The first call for a group counts its pods. Later changes update the count, so later calls only
  // look it up. The reference stays valid.
  const PodCounts& count(const PodGroup& group) const;
  // The lowest priority of all placed pods, or of those on a node. Empty if there are no such pods.
  std::optional<int32_t> lowest_priority() const;
  std::optional<int32_t> lowest_priority_on(NodeId node) const;

  // ---- changes
  void place(const PodView& pod, NodeId node, DeviceGrant grant, Time since);
  void remove(PodId pod);                   // must be placed
  void set_home(GangId gang, NodeId node);  // restores the home when a change is undone

 private:
  struct Group {
    PodGroup what;
    uint32_t team = 0;
    PodCounts counts;
  };
  struct Membership {
    size_t compared = 0;  // number of groups that the spec was compared with
    // Indices into groups_: the groups that include pods of the spec.
    std::vector<uint32_t> groups;
  };
  static bool has_members(const PodGroup& group, const PodSpec& spec);
  void step(Group& group, NodeId node, int32_t by) const;
  void count_in(const Placed& placed, int32_t by);
  std::span<const uint32_t> groups_of(SpecId spec) const;
  uint32_t team_number(std::string_view team) const;
  void find_lowest(NodeId node);

  const ClusterState& cluster_;
  const SpecTable& specs_;
  const Placed nowhere_{};
  IdVector<PodId, Placed> pods_;
  PodsOnNodes on_nodes_;
  std::vector<int32_t> lowest_;  // lowest priority by node
  std::vector<std::vector<PodId>> of_jobs_;
  std::vector<GangPlacement> of_gangs_;
  std::vector<int32_t> of_roles_;           // placed pods by role
  std::map<int32_t, int64_t> of_priority_;  // placed pods by priority
  size_t total_ = 0;
  // Const functions may add entries to these four.
  mutable std::map<std::string, uint32_t, std::less<>> teams_;  // number of each team, by name
  mutable std::vector<std::unique_ptr<Group>> groups_;  // groups that count() was called for
  mutable std::unordered_map<std::string, PodCounts*> by_name_;  // for lookup only, never iterated
  mutable std::vector<Membership> by_spec_;
};

}  // namespace orrery
