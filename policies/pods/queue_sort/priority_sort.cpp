// kube-scheduler's default order: higher priority first, then the unit that was queued first.
#include "models/scheduling/contract/policy_registry.hpp"

namespace orrery {
namespace {

class PrioritySort final : public Policy, public QueueSort {
 public:
  using Params = NoParams;
  PrioritySort(Handle& /*handle*/, const Params& /*params*/) {}

  bool less(const QueuedUnit& a, const QueuedUnit& b) const override {
    if (a.priority != b.priority) return a.priority > b.priority;
    return a.queued < b.queued;
  }
};
ORRERY_REGISTER_POLICY(PrioritySort, "PrioritySort",
                       "Higher priority first; of equal priorities, the pod or gang that was "
                       "queued first.");

}  // namespace
}  // namespace orrery
