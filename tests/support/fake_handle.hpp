// tests/support/fake_handle.hpp -- a scheduler for one policy: state a test sets, calls it reads.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "models/scheduling/contract/policy_registry.hpp"

namespace orrery {

class FakeHandle final : public Handle {
 public:
  ClusterState state;
  SpecTable table;
  Time clock;
  std::map<GangId, GangView> gangs;
  std::vector<PodView> pods;                     // by PodId
  std::map<GangId, std::vector<PodId>> waiting;  // kept by wait()
  const Fragmentation* measure = nullptr;        // of fragmentation
  std::vector<PodId> allowed, rejected, activated;
  std::string last_rejection;
  std::function<void(PodId)> on_reject = [](PodId) {};  // the framework unreserves here

  // ---- what a test arranges
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
  // Occupies a node: whole GPUs and shares by lowest index.
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
  Cycle cycle(const PodView& pod) const { return {clock, state, pod}; }

  // ---- Handle
  Time now() const override { return clock; }
  const ClusterState& cluster() const override { return state; }
  const SpecTable& specs() const override { return table; }
  PodView pod(PodId id) const override { return pods[id.index]; }
  GangView gang(GangId id) const override {
    const auto found = gangs.find(id);
    return found == gangs.end() ? GangView{} : found->second;
  }
  const Fragmentation* fragmentation() const override { return measure; }
  Rng rng(std::string_view stream) const override { return RngStreams{1}.stream(stream); }
  void allow_waiting(PodId id) override {
    stop_waiting(id);
    ++gangs[pods[id.index].gang].bound;
    allowed.push_back(id);
  }
  void reject_waiting(PodId id, std::string_view reason) override {
    stop_waiting(id);
    rejected.push_back(id);
    last_rejection = reason;
    on_reject(id);
  }
  std::span<const PodId> waiting_pods(GangId id) const override {
    const auto found = waiting.find(id);
    return found == waiting.end() ? std::span<const PodId>{} : std::span{found->second};
  }
  void activate_siblings(PodId id) override {
    const GangId gang = pods[id.index].gang;
    for (const PodView& sibling : pods) {
      const auto& there = waiting[gang];
      if (sibling.gang != gang || sibling.id == id) continue;
      if (std::ranges::find(there, sibling.id) == there.end()) activated.push_back(sibling.id);
    }
  }
  void set_gang_failure(GangId id, Time failed_at, Time backoff_until) override {
    gangs[id].last_failure = failed_at;
    gangs[id].backoff_until = backoff_until;
  }

 private:
  void stop_waiting(PodId id) {
    const GangId gang = pods[id.index].gang;
    if (std::erase(waiting[gang], id) > 0) --gangs[gang].waiting;
  }
  std::vector<std::unique_ptr<PodSpec>> specs_seen_;  // never move: PodViews point at them
};

// A registered policy, with arguments as a scenario would give them.
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

// What a policy has to say about its arguments; empty if they are fine.
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
