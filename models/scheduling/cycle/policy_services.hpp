// models/scheduling/cycle/policy_services.hpp -- the scheduler's state as policies see it, and the
// execution of their commands.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "models/scheduling/cycle/reservations.hpp"
#include "models/scheduling/framework/scheduler_services.hpp"

namespace orrery {

class PolicyServices final : public SchedulerServices {
 public:
  // Returns the error counters of NICs. The function is empty unless network.level is flow.
  using NicErrorsNow = std::function<std::vector<NicErrors>(Time now)>;
  PolicyServices(const SchedulerContext& context, const Fragmentation* fragmentation)
      : context_{context}, fragmentation_{fragmentation} {}
  void read_nic_errors(NicErrorsNow nic_errors) { nic_errors_ = std::move(nic_errors); }

  Time now() const override { return context_.sim.engine.now(); }
  const ClusterState& cluster() const override { return context_.cluster; }
  const SpecTable& specs() const override { return context_.jobs.specs(); }
  const Placements& placements() const override { return context_.placements; }
  PodView pod(PodId pod) const override { return context_.tracks.pod(pod); }
  GangView gang(GangId gang) const override { return context_.tracks.gang(gang); }
  std::span<const PodId> waiting_pods(GangId gang) const override {
    return context_.tracks.waiting(gang);
  }
  const RngStreams& streams() const override { return context_.sim.rng; }
  const Fragmentation* fragmentation() const override { return fragmentation_; }
  std::vector<NicErrors> nic_errors() const override {
    return nic_errors_ ? nic_errors_(now()) : std::vector<NicErrors>{};
  }
  const Preemption* preemption() const override {
    return context_.profile.driver == Driver::Counting ? nullptr : &context_.preemptions;
  }
  void carry_out(const PolicyCommand& command, CommandSink& later) override;

 private:
  void evict_first(uint8_t plugin, Evict order, CommandSink& later);
  void do_it(uint8_t plugin, const AllowWaiting& order);
  void do_it(uint8_t plugin, const RejectWaiting& order);
  void do_it(uint8_t plugin, const RejectGangs& order);
  void do_it(uint8_t plugin, const ActivateSiblings& order);
  void do_it(uint8_t plugin, const SetGangFailure& order);
  void do_it(uint8_t plugin, const Nominate& order);
  void do_it(uint8_t plugin, const WithdrawNomination& order);

  const SchedulerContext& context_;
  const Fragmentation* fragmentation_;
  NicErrorsNow nic_errors_;
};

}  // namespace orrery
