// tests/support/fake_handle.hpp -- a fake scheduler for tests of one policy. The test sets the
// scheduler's state, and reads which commands the policy gave.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "models/scheduling/contract/policy_registry.hpp"
#include "models/scheduling/framework/nominations.hpp"
#include "models/scheduling/framework/scheduler_services.hpp"

namespace orrery {

// A Handle that carries out commands at once. Nominate, WithdrawNomination and Evict have no
// effect.
class FakeHandle final : public SchedulerServices, public CommandSink, public Handle {
 public:
  FakeHandle() : Handle{static_cast<SchedulerServices&>(*this), *this, 0} {}

  ClusterState state;
  SpecTable table;
  Time clock;
  std::map<GangId, GangView> gangs;
  std::vector<PodView> pods;                     // pods[i] has PodId i
  std::map<GangId, std::vector<PodId>> waiting;  // members in Permit; set by wait()
  const Fragmentation* measure = nullptr;        // returned by fragmentation()
  std::vector<NicErrors> symbol_errors;          // returned by nic_errors()
  std::vector<PodId> allowed, rejected, activated;
  std::string last_rejection;
  std::function<void(PodId)> on_reject = [](PodId) {};  // called instead of Unreserve

  // ---- set-up by a test
  NodeId add_node(Resources allocatable, uint32_t leaf = 0, std::vector<NodeLabel> labels = {},
                  std::vector<Taint> taints = {}) {
    if (allocatable[Resource::Pods] == 0) allocatable[Resource::Pods] = 110;
    std::string name{"n"};
    name += std::to_string(state.nodes());  // GCC 12 warns of "n" + ... without cause
    return state.add_node({.name = std::move(name),
                           .allocatable = allocatable,
                           .labels = std::move(labels),
                           .taints = std::move(taints),
                           .leaf = leaf});
  }
  void add_gang(GangView gang) {
    gangs[gang.id] = gang;
    waiting[gang.id];
  }
  PodView add_pod(const PodSpec& spec, JobId job = {0}, GangId gang = {}) {
    specs_seen_.push_back(std::make_unique<PodSpec>(spec));
    PodView view{};
    view.id = PodId{static_cast<uint32_t>(pods.size())};
    view.spec_id = table.intern(spec);
    view.spec = specs_seen_.back().get();
    view.job = job;
    view.gang = gang;
    pods.push_back(view);
    return view;
  }
  void wait(const PodView& pod) {
    waiting[pod.gang].push_back(pod.id);
    ++gangs[pod.gang].waiting;
  }
  // Allocates the pod's resources on the node. Of the GPUs with enough free capacity, the pod
  // gets those with the lowest indices.
  void occupy(NodeId node, const PodSpec& spec) {
    DeviceGrant grant{0, spec.gpu_milli};
    int32_t missing = spec.gpus;
    for (uint32_t gpu = 0; missing > 0 && gpu < state.gpus(node); ++gpu) {
      if (state.gpu_left_milli(node, gpu) < spec.gpu_milli) continue;
      grant.gpus = static_cast<GpuMask>(grant.gpus | 1u << gpu);
      --missing;
    }
    state.take(node, spec.cluster_request(), grant);
  }
  // Records the pod in Placements, but allocates nothing in the cluster's state. The node must
  // exist.
  void place(const PodView& pod, NodeId node) { ledger().place(pod, node, {}, clock); }
  void leave(const PodView& pod) { ledger().remove(pod.id); }
  // A test calls gang_over() when the job of a gang is over.
  using Handle::gang_over;
  // Each attempt has a state of its own. cycle() begins an attempt, unless the test passes a state.
  CycleState& new_attempt() {
    return *attempts_.emplace_back(std::make_unique<CycleState>(attempts_.size(), streams_));
  }
  Cycle cycle(const PodView& pod) { return {clock, state, pod, new_attempt()}; }
  static Cycle cycle(const FakeHandle& handle, const PodView& pod, CycleState& state) {
    return {handle.clock, handle.state, pod, state};
  }

  // ---- SchedulerServices
  Time now() const override { return clock; }
  const ClusterState& cluster() const override { return state; }
  const SpecTable& specs() const override { return table; }
  PodView pod(PodId id) const override { return pods[id.index]; }
  GangView gang(GangId id) const override {
    const auto found = gangs.find(id);
    return found == gangs.end() ? GangView{} : found->second;
  }
  const Fragmentation* fragmentation() const override { return measure; }
  std::vector<NicErrors> nic_errors() const override { return symbol_errors; }
  const RngStreams& streams() const override { return streams_; }
  const Placements& placements() const override {
    return const_cast<FakeHandle*>(this)->ledger();  // creates the Placements at its first call
  }
  std::span<const PodId> waiting_pods(GangId id) const override {
    const auto found = waiting.find(id);
    if (found == waiting.end()) return {};
    // A copy: commands may change the list while a policy reads it.
    return shown_.emplace_back(found->second);
  }
  void give(const PolicyCommand& command) override { carry_out(command, *this); }
  void carry_out(const PolicyCommand& command, CommandSink& /*later*/) override {
    std::visit([this](const auto& order) { do_it(order); }, command.order);
  }

 private:
  Placements& ledger() {
    if (!ledger_) ledger_ = std::make_unique<Placements>(state, table);
    return *ledger_;
  }
  void do_it(const AllowWaiting& order) {
    stop_waiting(order.pod);
    ++gangs[pods[order.pod.index].gang].bound;
    allowed.push_back(order.pod);
  }
  void do_it(const RejectWaiting& order) {
    stop_waiting(order.pod);
    rejected.push_back(order.pod);
    last_rejection = order.reason;
    on_reject(order.pod);
  }
  void do_it(const RejectGangs& order) {
    for (uint32_t i = 0; i < static_cast<uint32_t>(order.gangs); ++i) {
      const std::vector<PodId> there = waiting[{order.first.index + i}];
      for (const PodId pod : there) {
        if (std::ranges::find(rejected, pod) == rejected.end())
          do_it(RejectWaiting{pod, order.reason});
      }
    }
  }
  void do_it(const ActivateSiblings& order) {
    const GangId gang = pods[order.pod.index].gang;
    for (const PodView& sibling : pods) {
      const auto& there = waiting[gang];
      if (sibling.gang != gang || sibling.id == order.pod) continue;
      if (std::ranges::find(there, sibling.id) == there.end()) activated.push_back(sibling.id);
    }
  }
  void do_it(const SetGangFailure& order) {
    gangs[order.gang].last_failure = order.failed_at;
    gangs[order.gang].backoff_until = order.backoff_until;
  }
  void do_it(const Nominate& /*order*/) {}
  void do_it(const WithdrawNomination& /*order*/) {}
  void do_it(const Evict& /*order*/) {}
  void stop_waiting(PodId id) {
    const GangId gang = pods[id.index].gang;
    if (std::erase(waiting[gang], id) > 0) --gangs[gang].waiting;
  }
  const RngStreams streams_{1};
  mutable std::deque<std::vector<PodId>> shown_;
  std::unique_ptr<Placements> ledger_;
  std::vector<std::unique_ptr<CycleState>> attempts_;
  std::vector<std::unique_ptr<PodSpec>> specs_seen_;  // by pointer: PodViews point at the specs
};

// Makes a registered policy; `args` are written as in a scenario.
inline std::unique_ptr<Policy> make_policy(FakeHandle& handle, const std::string& name,
                                           std::string_view args = "{}") {
  const auto* const entry = PolicyRegistry::instance().find(name);
  if (entry == nullptr) {
    ADD_FAILURE() << "no policy " << name;
    return nullptr;
  }
  Diagnostics diagnostics;
  const config::Document document = config::load_text(args, "args", diagnostics);
  const RawParams raw{document.root, "args"};
  entry->check(raw, "args", diagnostics);
  EXPECT_TRUE(diagnostics.ok()) << diagnostics.text();
  return entry->make(handle, raw);
}

// Messages of the policy about `args`; empty if the arguments are valid.
inline std::string complaints(const std::string& name, std::string_view args) {
  Diagnostics diagnostics;
  const config::Document document = config::load_text(args, "args", diagnostics);
  PolicyRegistry::instance().find(name)->check({document.root, "args"}, "args", diagnostics);
  return diagnostics.text();
}

template <class Point>
Point& as(const std::unique_ptr<Policy>& policy) {
  return dynamic_cast<Point&>(*policy);
}

}  // namespace orrery
