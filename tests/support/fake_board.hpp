// tests/support/fake_board.hpp -- a fake cluster for one controller: a test sets the state of the
// cluster and reads the actions of the controller.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "models/scheduling/contract/policy_registry.hpp"
#include "sim/core/rng.hpp"

namespace orrery {

// A ControlBoard whose public members are what the controller sees. Nodes must be added before the
// first job.
class FakeBoard final : public ControlBoard {
 public:
  ClusterState state;
  SpecTable table;
  Time clock;
  std::map<JobId, JobView> all;
  std::vector<WaitingJob> wait_line;
  std::map<JobId, Duration> not_saved;
  std::vector<Unplaced> without_node;
  std::map<PodId, std::vector<uint32_t>> budgets_of;
  std::map<uint32_t, int32_t> allowed;  // evictions that the budget allows, by number of the budget
  std::map<NodeId, uint32_t> dead_ports;
  std::set<JobId> held;
  std::set<NodeId> not_ready, draining;
  std::vector<PoolView> scaled;  // at most one pool
  std::map<NodeId, PoolNodeState> pool_states;
  std::vector<NodeChange> changes;
  std::vector<GangFailure> failures;

  // ---- set-up by a test
  NodeId add_node(int64_t gpus = 8, int64_t cpus = 64, std::vector<Taint> taints = {}) {
    Resources has;
    has[Resource::Gpu] = gpus * kMilli;
    has[Resource::Cpu] = cpus * kMilli;
    has[Resource::Memory] = int64_t{512} << 30;
    has[Resource::Pods] = 110;
    std::string name{"n"};
    name += std::to_string(state.nodes());
    const NodeId node = state.add_node(
        {.name = std::move(name), .allocatable = has, .labels = {}, .taints = std::move(taints)});
    return node;
  }
  // Adds a job of equal pods: pod i is on nodes[i], or waits if nodes[i] is invalid. Sets the
  // members of `view` that follow from the pods.
  JobId add_job(const PodSpec& spec, const std::vector<NodeId>& nodes, JobView view = {}) {
    view.id = JobId{static_cast<uint32_t>(all.size())};
    view.serial = all.size();
    view.first_pod = PodId{static_cast<uint32_t>(pods_.size())};
    view.pods = static_cast<int32_t>(nodes.size());
    view.gpus = view.pods * spec.gpus;
    view.priority = spec.priority;
    const SpecId id = table.intern(spec);
    for (const NodeId node : nodes) {
      PodView pod;
      pod.id = PodId{static_cast<uint32_t>(pods_.size())};
      pod.spec_id = id;
      pod.job = view.id;
      pod.job_uid = view.serial;
      pod.rank = static_cast<int32_t>(pod.id.index - view.first_pod.index);
      if (view.is_gang) pod.gang = GangId{view.id.index};
      pods_.push_back(pod);
      if (!node.is_valid()) continue;
      ++view.pods_bound;
      place(pod.id, node);
    }
    all[view.id] = view;
    if (view.pods_bound < view.pods) wait_line.push_back({view.id, clock});
    return view.id;
  }
  void place_later(PodId pod, NodeId node) {
    ++all.at(pods_[pod.index].job).pods_bound;
    place(pod, node);
  }
  void remove(PodId pod) {
    const Placed placed = ledger().of(pod);
    state.give_back(placed.node, table.request(placed.spec), placed.grant);
    ledger().remove(pod);
    --all.at(placed.job).pods_bound;
  }
  static PodSpec gpus(int32_t count, int64_t cpus = 0) {
    PodSpec spec;
    spec.gpus = count;
    spec.cpu_milli = cpus * kMilli;
    return spec;
  }

  // ---- ControlBoard
  Time now() const override { return clock; }
  Rng rng(std::string_view stream) const override { return streams_.stream(stream); }
  const ClusterState& cluster() const override { return state; }
  const SpecTable& specs() const override { return table; }
  const Placements& placements() const override {
    return const_cast<FakeBoard*>(this)->ledger();  // the ledger is created at the first call
  }
  bool is_live(JobId id) const override { return all.contains(id) && !is_over(all.at(id).phase); }
  bool is_live(PodId id) const override {
    return id.index < pods_.size() && is_live(pods_[id.index].job);
  }
  JobView job(JobId id) const override { return all.at(id); }
  std::vector<JobId> jobs() const override {
    std::vector<JobId> ids;
    for (const auto& [id, view] : all) {
      if (!is_over(view.phase)) ids.push_back(id);
    }
    return ids;
  }
  PodView pod(PodId id) const override {
    PodView view = pods_[id.index];
    view.spec = &table[view.spec_id];
    return view;
  }
  bool is_ready(PodId pod) const override { return placements().node_of(pod).is_valid(); }
  bool is_terminating(PodId /*pod*/) const override { return false; }
  Duration unsaved(PodId pod) const override {
    const auto at = not_saved.find(pods_[pod.index].job);
    return at == not_saved.end() ? Duration{} : at->second;
  }
  std::span<const WaitingJob> waiting() const override { return wait_line; }
  bool is_held(JobId job) const override { return held.contains(job); }
  int64_t lone_pods() const override {
    return std::ranges::count_if(
        pods_, [&](const PodView& pod) { return !pod.gang.is_valid() && is_live(pod.job); });
  }
  int64_t lone_pods_with_siblings() const override {
    return std::ranges::count_if(pods_, [&](const PodView& pod) {
      return !pod.gang.is_valid() && is_live(pod.job) && all.at(pod.job).pods > 1;
    });
  }
  std::vector<Unplaced> unplaced() const override { return without_node; }
  std::vector<uint32_t> budgets(PodId pod) const override {
    const auto at = budgets_of.find(pod);
    return at == budgets_of.end() ? std::vector<uint32_t>{} : at->second;
  }
  int32_t disruptions_allowed(uint32_t budget) const override { return allowed.at(budget); }
  bool is_ready(NodeId node) const override { return !not_ready.contains(node); }
  bool is_broken(NodeId node) const override { return not_ready.contains(node); }
  bool is_draining(NodeId node) const override { return draining.contains(node); }
  uint32_t nodes_not_ready() const override { return static_cast<uint32_t>(not_ready.size()); }
  uint32_t ports_down(NodeId node) const override {
    const auto at = dead_ports.find(node);
    return at == dead_ports.end() ? 0 : at->second;
  }
  std::span<const NodeChange> node_changes() const override { return changes; }
  std::span<const GangFailure> gang_failures() const override { return failures; }
  std::span<const PoolView> pools() const override { return scaled; }
  PoolNodeState pool_state(NodeId node) const override {
    const auto at = pool_states.find(node);
    return at == pool_states.end() ? PoolNodeState::Foreign : at->second;
  }
  uint32_t pool_of(NodeId /*node*/) const override { return 0; }

 private:
  Placements& ledger() {
    if (ledger_) return *ledger_;
    state.seal();
    ledger_ = std::make_unique<Placements>(state, table);
    return *ledger_;
  }
  void place(PodId id, NodeId node) {
    Placements& placements = ledger();
    const PodSpec& spec = table[pods_[id.index].spec_id];
    DeviceGrant grant{0, spec.gpu_milli};
    int32_t missing = spec.gpus;
    for (uint32_t gpu = 0; missing > 0 && gpu < state.gpus(node); ++gpu) {
      if (state.gpu_left_milli(node, gpu) < spec.gpu_milli) continue;
      grant.gpus = static_cast<GpuMask>(grant.gpus | 1U << gpu);
      --missing;
    }
    EXPECT_EQ(missing, 0) << "no room on node " << node.index;
    state.take(node, table.request(pods_[id.index].spec_id), grant);
    placements.place(pod(id), node, grant, clock);
  }
  const RngStreams streams_{1};
  std::vector<PodView> pods_;  // pods_[i] has PodId i
  std::unique_ptr<Placements> ledger_;
};

// A registered controller, with arguments as in a scenario.
struct FakeController {
  FakeController(const FakeBoard& shown, const std::string& name, std::string_view args = "{}")
      : board{shown} {
    const auto* const entry = PolicyRegistry::instance().find(name);
    if (entry == nullptr || !entry->make_controller) {
      ADD_FAILURE() << "no controller " << name;
      return;
    }
    Diagnostics diagnostics;
    const config::Document document = config::load_text(args, "args", diagnostics);
    const RawParams raw{document.root, "args"};
    entry->check(raw, "args", diagnostics);
    EXPECT_TRUE(diagnostics.ok()) << diagnostics.text();
    policy = entry->make_controller(board, raw);
  }
  // The actions of a tick, each with the number of its pod, job or node: "evict 3", "suspend 1".
  std::vector<std::string> tick() {
    last = {};
    dynamic_cast<Controller&>(*policy).tick(board, last);
    std::vector<std::string> wanted;
    for (const Actions::Ordered& ordered : last.ordered()) {
      std::string text{kActionNames[ordered.action.index()]};
      const auto add = [&](const auto& action) {
        if constexpr (requires { action.pod; }) text += " " + std::to_string(action.pod.index);
        if constexpr (requires { action.job; }) text += " " + std::to_string(action.job.index);
        if constexpr (requires { action.node; }) text += " " + std::to_string(action.node.index);
      };
      std::visit(
          [&](const auto& action) {
            if constexpr (requires { action.nodes; }) {
              for (const NodeId node : action.nodes) text += " " + std::to_string(node.index);
            } else {
              add(action);
            }
          },
          ordered.action);
      wanted.push_back(text);
    }
    return wanted;
  }
  const FakeBoard& board;
  std::unique_ptr<Policy> policy;
  Actions last;
};

// Messages of a controller about its arguments. Empty if the arguments are valid.
inline std::string complaints_of_controller(const std::string& name, std::string_view args) {
  Diagnostics diagnostics;
  const config::Document document = config::load_text(args, "args", diagnostics);
  PolicyRegistry::instance().find(name)->check({document.root, "args"}, "args", diagnostics);
  return diagnostics.text();
}

}  // namespace orrery
