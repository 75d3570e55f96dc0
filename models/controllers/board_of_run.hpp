// models/controllers/board_of_run.hpp -- the ControlBoard, through which controllers see a run.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "models/control_plane/autoscaling/node_groups.hpp"
#include "models/control_plane/nodes/node_lifecycle.hpp"
#include "models/controllers/action_executor.hpp"
#include "models/controllers/control_news.hpp"
#include "models/controllers/disruption_budgets.hpp"
#include "models/hardware/node_presence.hpp"
#include "models/scheduling/contract/control/board.hpp"

namespace orrery {

class Board final : public ControlBoard {
 public:
  struct Parts {
    const ClusterState& cluster;
    const JobTable& jobs;
    const JobController& controller;
    const Scheduler& scheduler;
    const NodePresence& presence;
    const NodeLifecycle* lifecycle = nullptr;              // only with a control plane
    const NodeGroups* groups = nullptr;                    // only with control_plane.autoscaler
    std::function<uint32_t(NodeId node)> ports_down = {};  // only with a fabric
  };
  Board(Sim sim, const Parts& parts, ControlNews& news, const ActionExecutor& executor,
        const DisruptionBudgets& budgets)
      : sim_{sim}, parts_{parts}, news_{news}, executor_{executor}, budgets_{budgets} {}

  // Called before each tick of a controller. The arguments are the positions of the controller's
  // first unread entries in the logs of ControlNews. node_changes() and gang_failures() then return
  // the unread entries.
  void show_since(uint64_t node_changes, uint64_t gang_failures) {
    node_changes_from_ = node_changes;
    gang_failures_from_ = gang_failures;
  }

  Time now() const override { return sim_.engine.now(); }
  Rng rng(std::string_view stream) const override { return sim_.rng.stream(stream); }
  const ClusterState& cluster() const override { return parts_.cluster; }
  const SpecTable& specs() const override { return parts_.jobs.specs(); }
  const Placements& placements() const override { return parts_.scheduler.placements(); }

  bool is_live(JobId job) const override {
    return job.index < parts_.jobs.jobs_bound() && parts_.jobs.is_live(job);
  }
  bool is_live(PodId pod) const override;
  JobView job(JobId job) const override;
  std::vector<JobId> jobs() const override;
  PodView pod(PodId pod) const override { return parts_.scheduler.view(pod); }
  bool is_ready(PodId pod) const override {
    return DisruptionBudgets::is_ready(parts_.jobs.pod(pod), now());
  }
  bool is_terminating(PodId pod) const override { return parts_.jobs.pod(pod).is_terminating; }
  Duration unsaved(PodId pod) const override { return parts_.controller.unsaved(pod); }
  std::span<const WaitingJob> waiting() const override { return news_.waiting(); }
  bool is_held(JobId job) const override;
  int64_t lone_pods() const override { return news_.lone_pods(); }
  int64_t lone_pods_with_siblings() const override { return news_.lone_pods_with_siblings(); }
  std::vector<Unplaced> unplaced() const override;
  std::vector<uint32_t> budgets(PodId pod) const override { return budgets_.of(pod); }
  int32_t disruptions_allowed(uint32_t budget) const override {
    return budget < budgets_.size() ? budgets_.status(budget, now()).allowed() : 0;
  }

  bool is_ready(NodeId node) const override;
  uint32_t nodes_not_ready() const override;
  bool is_broken(NodeId node) const override {
    return parts_.presence.has(node, NodeReason::Broken);
  }
  bool is_draining(NodeId node) const override { return executor_.is_draining(node); }
  uint32_t ports_down(NodeId node) const override {
    return parts_.ports_down ? parts_.ports_down(node) : 0;
  }
  std::span<const NodeChange> node_changes() const override {
    return news_.node_changes().since(node_changes_from_);
  }
  std::span<const GangFailure> gang_failures() const override {
    return news_.gang_failures().since(gang_failures_from_);
  }

  std::span<const PoolView> pools() const override {
    return parts_.groups != nullptr ? parts_.groups->pools() : std::span<const PoolView>{};
  }
  PoolNodeState pool_state(NodeId node) const override {
    return parts_.groups != nullptr ? parts_.groups->state(node) : PoolNodeState::Foreign;
  }
  uint32_t pool_of(NodeId node) const override {
    return parts_.groups != nullptr ? parts_.groups->pool_of(node) : 0;
  }

 private:
  Sim sim_;
  Parts parts_;
  ControlNews& news_;
  const ActionExecutor& executor_;
  const DisruptionBudgets& budgets_;
  uint64_t node_changes_from_ = 0, gang_failures_from_ = 0;
};

}  // namespace orrery
