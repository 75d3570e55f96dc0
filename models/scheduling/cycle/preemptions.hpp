// models/scheduling/cycle/preemptions.hpp -- what-ifs (the cluster as it would be after evictions),
// and nominated pods.
#pragma once

#include <memory>
#include <vector>

#include "models/scheduling/contract/preemption.hpp"
#include "models/scheduling/cycle/active_profile.hpp"
#include "models/scheduling/cycle/evictions.hpp"
#include "models/scheduling/cycle/pod_tracks.hpp"
#include "models/scheduling/cycle/scheduler_context.hpp"
#include "models/scheduling/cycle/transaction.hpp"

namespace orrery {

class GangWhatIfs {  // creates what-ifs for the gang of the running cycle
 public:
  virtual ~GangWhatIfs() = default;
  virtual std::unique_ptr<GangWhatIf> gang_what_if(const Cycle& cycle) = 0;
};

class Preemptions final : public Preemption {
 public:
  explicit Preemptions(const SchedulerContext& context)
      : context_{context}, nominations_{context.cluster.nodes()} {}

  void use(PodApi& api) { api_ = &api; }  // nominations are written through the API
  void use(GangWhatIfs& gangs) { gangs_ = &gangs; }
  const Nominations& nominations() const { return nominations_; }
  void nominate(PodId pod, NodeId node, bool is_tried_first);
  void withdraw(PodId pod);  // also emits `withdrawn`, if the pod was nominated
  void clear(PodId pod) { nominations_.clear(pod); }  // the pod got a node, or was deleted
  void clear_all() { nominations_ = Nominations{context_.cluster.nodes()}; }
  // The API refused to delete the victim. Withdraws the nomination of the preemptor, and of other
  // pods that are nominated to the victim's node and have a higher priority than the victim.
  void stays(PodId victim, PodId preemptor);

  Signal<PodId> withdrawn;  // emitted by withdraw(), not by clear()

  // ---- Preemption: called by policies
  bool is_above_any(int32_t priority) const override;
  bool is_above_any_on(NodeId node, int32_t priority) const override;
  void placed_on(NodeId node, std::vector<PlacedPod>& pods) const override;
  std::unique_ptr<WhatIf> what_if(const Cycle& cycle) const override;
  std::unique_ptr<GangWhatIf> gang_what_if(const Cycle& cycle) const override;
  Duration unsaved(PodId pod) const override { return context_.controller.unsaved(pod); }
  NodeId nominated_node(PodId pod) const override { return nominations_.node_of(pod); }
  void nominated_on(NodeId node, std::vector<PodId>& pods) const override;

 private:
  const SchedulerContext& context_;
  PodApi* api_ = nullptr;
  GangWhatIfs* gangs_ = nullptr;
  Nominations nominations_;
};

}  // namespace orrery
