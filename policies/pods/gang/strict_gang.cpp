// All or nothing: a gang is bound if one cycle finds a node for every member or, with
// `members: min_available`, for enough members. Otherwise no member gets a node.
#include <array>

#include "models/scheduling/contract/policy_registry.hpp"

namespace orrery {
namespace {

enum class Members : uint8_t { All, MinAvailable };
constexpr std::array<std::string_view, 2> enum_names(Members) { return {"all", "min_available"}; }

// Meant for the per_gang driver: there GangView::assigned() includes the members placed so far in
// the cycle.
class StrictGang final : public Policy, public Permit, public EventHints {
 public:
  struct Params {
    Members members = Members::All;
    template <class V>
    void fields(V& v) {
      v("members", members,
        "How many members must get a node. all: every pod; min_available: the gang's min_available "
        "and that of each of its roles.");
    }
  };
  StrictGang(Handle& handle, const Params& params) : handle_{handle}, members_{params.members} {}

  PermitStatus permit(const Cycle& cycle, NodeId /*node*/) override {
    if (!cycle.pod.gang.is_valid()) return {};
    const GangView gang = handle_.gang(cycle.pod.gang);
    const bool are_enough =
        members_ == Members::All ? gang.assigned() + 1 >= gang.pods : gang.missing(1) == 0;
    if (are_enough) return {};
    return {Code::Unschedulable, {}, "not every member of the gang has a node"};
  }

  ClusterEvents events() const override {
    return bit_of(ClusterEventKind::UnscheduledPodAdded) |
           bit_of(ClusterEventKind::AssignedPodDeleted) | bit_of(ClusterEventKind::NodeAdded) |
           bit_of(ClusterEventKind::NodeChanged);
  }
  QueueHint hint(const PodView& pod, const ClusterEvent& event) const override {
    if (event.kind != ClusterEventKind::UnscheduledPodAdded) return QueueHint::Queue;
    return event.gang == pod.gang ? QueueHint::Queue : QueueHint::Skip;
  }

 private:
  const Handle& handle_;
  const Members members_;
};
ORRERY_REGISTER_POLICY(StrictGang, "StrictGang",
                       "A gang gets all its nodes in one cycle, or none.");

}  // namespace
}  // namespace orrery
