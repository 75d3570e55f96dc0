// models/scheduling/contract/handle.hpp -- queries and commands of a policy to the framework.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/scheduling/contract/command.hpp"
#include "models/scheduling/contract/scheduler_view.hpp"

namespace orrery {

class GangMemory {  // base of GangMap
 public:
  virtual ~GangMemory() = default;
  virtual void gang_over(GangId gang) = 0;
};

// A policy reaches the scheduler only through its handle. Each policy has its own handle, so that
// the framework knows which policy gives a command. Commands take effect once the extension point
// that gave them has returned.
class ORRERY_API Handle {
 public:
  Handle(const SchedulerView& view, CommandSink& commands, uint8_t plugin)
      : view_{view}, commands_{commands}, plugin_{plugin} {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  Time now() const { return view_.now(); }
  const ClusterState& cluster() const { return view_.cluster(); }
  const SpecTable& specs() const { return view_.specs(); }
  // The nodes of all placed pods. While the scheduler tries to place a gang, this includes the
  // members placed so far. In a what-if, the evicted pods are left out.
  const Placements& placements() const { return view_.placements(); }
  PodView pod(PodId pod) const { return view_.pod(pod); }
  GangView gang(GangId gang) const { return view_.gang(gang); }
  // Pods of the gang that wait in Permit, longest wait first.
  std::span<const PodId> waiting_pods(GangId gang) const { return view_.waiting_pods(gang); }
  // Random numbers for the non-const methods of extension points. Const methods use
  // CycleState::rng() instead.
  Rng rng(std::string_view stream) const { return view_.streams().stream(stream); }
  // The fragmentation of nodes for the typical pods of the workload; null if the scenario names no
  // typical pods.
  const Fragmentation* fragmentation() const { return view_.fragmentation(); }
  // The nodes whose NICs have symbol errors, with these errors, in node order. Empty without
  // network.level: flow.
  std::vector<NicErrors> nic_errors() const { return view_.nic_errors(); }
  // Queries about preemption; null with driver: counting.
  const Preemption* preemption() const { return view_.preemption(); }

  // ---- commands; see command.hpp
  void allow_waiting(PodId pod) { give(AllowWaiting{pod}); }
  void reject_waiting(PodId pod, std::string_view reason) {
    give(RejectWaiting{pod, std::string{reason}});
  }
  void reject_gangs(GangId first, int32_t gangs, std::string_view reason) {
    give(RejectGangs{.reason = std::string{reason}, .first = first, .gangs = gangs});
  }
  void activate_siblings(PodId pod) { give(ActivateSiblings{pod}); }
  // The framework stores the failure with the gang and shows it in GangView until the job is over.
  void set_gang_failure(GangId gang, Time failed_at, Time backoff_until) {
    give(SetGangFailure{gang, failed_at, backoff_until});
  }
  void nominate(PodId pod, NodeId node, bool is_tried_first) {
    give(Nominate{pod, node, is_tried_first});
  }
  void withdraw(PodId pod) { give(WithdrawNomination{pod}); }
  void evict(PodId preemptor, std::vector<PodId> victims, bool waits) {
    give(Evict{preemptor, std::move(victims), waits});
  }

  // From now on, memory.gang_over() is called for each gang whose job is over. `memory` must live
  // as long as the policy.
  void clear_with_gangs(GangMemory& memory) { memories_.push_back(&memory); }
  void gang_over(GangId gang) {  // for the framework
    for (GangMemory* const memory : memories_) memory->gang_over(gang);
  }

 private:
  void give(const PolicyOrder& order) { commands_.give({plugin_, order}); }

  const SchedulerView& view_;
  CommandSink& commands_;
  const uint8_t plugin_;
  std::vector<GangMemory*> memories_;
};

}  // namespace orrery
