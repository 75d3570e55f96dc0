// models/scheduling/cycle/preemptions.hpp -- which pods are placed where, and who of them makes
// room for
// whom.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "models/scheduling/contract/preemption.hpp"
#include "models/scheduling/cycle/scheduler_rows.hpp"
#include "models/scheduling/cycle/transaction.hpp"
#include "models/scheduling/framework/framework.hpp"
#include "models/scheduling/framework/nominations.hpp"
#include "models/workload/job/pods_on_nodes.hpp"
#include "models/workload/lifecycle/job_controller.hpp"
#include "sim/engine/signal.hpp"
#include "sim/record/channel.hpp"
#include "sim/runtime/sim.hpp"

namespace orrery {

class Preemptions final : public Preemption {
 public:
  struct Context {
    Sim sim;
    ClusterState& cluster;
    Transaction& transaction;
    JobTable& jobs;
    JobController& controller;
    const Handle& handle;
  };
  explicit Preemptions(const Context& context);

  void use(PodApi& api) { api_ = &api; }  // pods are deleted through it; else at once
  void use(Framework& framework);         // in place of an earlier one

  // News of the scheduler: the pod is bound, or a node is reserved for it; or no more.
  void placed(PodId pod, NodeId node, DeviceGrant grant);
  void left(PodId pod);
  void forget(PodId pod);  // it is gone
  void forget_nominations();

  // A victim has a reservation and waits in Permit: it is to be turned away. Else it is deleted.
  Signal<PodId> victim_waits;
  Signal<PodId> withdrawn;    // it had a nomination
  Signal<> resumed;           // no answer is awaited any more
  Signal<PodId> made_room;    // all deletions for its sake are answered
  void carry_out(Time when);  // what the running cycle has decided, at its end

  bool is_asking(PodId preemptor) const {  // some deletion for its sake is not answered
    return preemptor.index < pods_.size() && pods_[preemptor.index].unanswered > 0;
  }
  bool is_under_way() const { return !orders_.empty() || asked_ > 0; }  // some deletion is
  bool is_awaited() const { return awaited_ > 0; }  // no pod is tried before an answer
  const Nominations& nominations() const { return nominations_; }
  uint64_t victims() const { return victims_; }  // so far

  // ---- Preemption: what policies may see and ask
  bool is_above_any(int32_t priority) const override;
  bool is_above_any_on(NodeId node, int32_t priority) const override {
    return lowest_[node.index] < priority;
  }
  void placed_on(NodeId node, std::vector<PlacedPod>& pods) const override;
  std::unique_ptr<WhatIf> what_if(const Cycle& cycle) override;
  NodeId nominated_node(PodId pod) const override { return nominations_.node_of(pod); }
  void nominated_on(NodeId node, std::vector<PodId>& pods) const override;
  void nominate(PodId pod, NodeId node, bool is_tried_first) override;
  void withdraw(PodId pod) override;
  void evict(PodId preemptor, std::span<const PodId> victims, bool waits) override;

 private:
  class Trial;
  struct Placed {
    NodeId node;  // invalid: none
    DeviceGrant grant;
    Time since;
    bool is_leaving = false;
    uint32_t out_slot = 0;    // of a what-if
    uint32_t unanswered = 0;  // deletions for its sake
  };
  struct Order {  // a deletion
    Time due;
    PodId preemptor, victim;
    uint64_t preemptor_life = 0, victim_life = 0;  // generations: pods may be gone meanwhile
    uint64_t by_job = 0;                           // of the preemptor, likewise
    int32_t by_rank = 0, by_priority = 0;
    bool waits = false;
  };
  Placed& track(PodId pod);
  uint64_t life(PodId pod) const { return context_.jobs.pod(pod).generation; }
  bool is_there(const Order& order) const;
  void carry_out_due();
  void told(const Order& order, PodApi::Creation news);
  void answered(const Order& order);
  void preempt(const Order& order);
  void record(const Order& order);
  void find_lowest(NodeId node);

  Context context_;
  PodApi* api_ = nullptr;
  Framework* framework_ = nullptr;
  std::vector<Placed> pods_;  // by PodId
  PodsOnNodes on_nodes_;
  static constexpr int32_t kNobody = std::numeric_limits<int32_t>::max();
  std::vector<int32_t> lowest_;             // priority of the pods of each node
  std::map<int32_t, int64_t> of_priority_;  // placed pods
  Nominations nominations_;
  uint64_t victims_ = 0, awaited_ = 0;
  uint64_t asked_ = 0;        // of the API servers, and not answered
  std::deque<Order> orders_;  // those of the running cycle last, without a due time
  size_t undated_ = 0;
  Channel<PreemptionRow> rows_;
  mutable std::vector<PodId> there_;  // scratch
};

}  // namespace orrery
