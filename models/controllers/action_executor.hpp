// models/controllers/action_executor.hpp -- executes the actions of controllers.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "models/control_plane/autoscaling/node_groups.hpp"
#include "models/control_plane/base/controller_api.hpp"
#include "models/controllers/action_rows.hpp"
#include "models/controllers/disruption_budgets.hpp"
#include "models/controllers/evictions_by_api.hpp"
#include "models/hardware/cluster_state.hpp"
#include "models/scheduling/contract/control/actions.hpp"
#include "models/scheduling/cycle/scheduler.hpp"
#include "models/workload/job/job_table.hpp"
#include "models/workload/lifecycle/job_controller.hpp"
#include "sim/record/channel.hpp"
#include "sim/runtime/sim.hpp"

namespace orrery {

// Carries out the actions of controllers. With a control plane, each controller sends the requests
// for its actions through its own API client. An impossible action is refused, for example because
// a disruption budget forbids it or because a named object is missing. Each action gets a row of
// /events/actions once its outcome is known, or at the end of the run. Example: at 0 s, EvictPod
// names a pod whose budget is used up. The request gets a 429 and is retried every 5 s. With
// EvictPod::retry_for of 60 s, the action is refused at 60 s.
class ActionExecutor {
 public:
  struct Parts {
    ClusterState& cluster;
    const JobTable& jobs;
    JobController& controller;
    Scheduler& scheduler;
    NodeNews& nodes;
    DisruptionBudgets& budgets;
    NodeGroups* groups = nullptr;  // only with control_plane.autoscaler
    bool has_job_queue = false;
  };
  struct Giver {
    uint32_t number = 0;  // index of the controller, whose API client sends the requests
    std::string_view name;
  };
  ActionExecutor(Sim sim, const Parts& parts);
  ActionExecutor(const ActionExecutor&) = delete;
  ActionExecutor& operator=(const ActionExecutor&) = delete;

  void use(ControllerApi& api);
  void connect(PodNews& pods, JobNews& jobs);
  void carry_out(const Giver& by, const Actions& actions);
  void finish();  // writes the rows of open actions at the end of the run
  void add_summary(Recorder& recorder) const;

  bool is_draining(NodeId node) const { return draining_.contains(node); }
  bool is_suspended(JobId job) const { return suspended_.contains(job); }
  // Whether the job writes a checkpoint when it is suspended. A job without checkpoints, or with
  // checkpoints in a store, writes none.
  static bool saves_when_suspended(const JobSpec& spec) {
    return spec.checkpoint_interval > Duration{} && spec.checkpoint == nullptr;
  }
  // True while a node is cordoned, a job is suspended or an action is open. A later action may then
  // let pending pods start, so Cluster::stop_if_futile() does not stop the run.
  bool holds_back() const { return !cordoned_.empty() || !suspended_.empty() || !open_.empty(); }

 private:
  struct Open {  // an action whose outcome is not known yet
    ActionRow row;
    Giver by;
    // For a drain: the remaining pods, each with the number that identifies its eviction.
    std::map<PodId, uint64_t> evictions = {};
    EventId deadline = {};
  };
  struct Counters {
    uint64_t given = 0, done = 0, refused = 0, failed = 0;
  };
  // Returns "there is no such node" (or job, or pod) if the action names an object that does not
  // exist, else an empty text.
  std::string_view what_is_missing(const ControlAction& action) const;
  ActionRow row_of(const Giver& by, const Actions::Ordered& ordered) const;
  void begin(uint64_t number, const CordonNode& action);
  void begin(uint64_t number, const UncordonNode& action);
  void begin(uint64_t number, const TaintNode& action);
  void begin(uint64_t number, const EvictPod& action);
  void begin(uint64_t number, const DrainNode& action);
  void begin(uint64_t number, const SuspendJob& action);
  void begin(uint64_t number, const ResumeJob& action);
  void begin(uint64_t number, const ResizeService& action);
  void begin(uint64_t number, const AddNodes& action);
  void begin(uint64_t number, const RemoveNodes& action);
  // Sends a PATCH for an object. Once the PATCH is stored (without a control plane: at once),
  // calls `apply` and ends the action. `apply` makes the change and returns an empty string, or
  // returns why the change is no longer possible.
  void patch(uint64_t number, ApiResource resource, std::function<std::string()> apply);
  void set_cordoned(NodeId node, bool is_cordoned);
  void delete_intolerant(uint64_t number, const TaintNode& action);
  void drain_pods(uint64_t number, const DrainNode& action);
  void drain_failed(uint64_t number, const std::string& reason);
  void pod_removed(PodId pod);
  void job_over(JobId job) { suspended_.erase(job); }
  std::string suspend(JobId job);
  void end(uint64_t number, ActionOutcome outcome, std::string_view reason = {});
  bool is_on(NodeId node, PodId pod) const;

  Sim sim_;
  Parts parts_;
  ControllerApi* api_ = nullptr;
  EvictionsByApi evictions_;
  std::map<uint64_t, Open> open_;  // by number; later actions have higher numbers
  uint64_t last_ = 0;
  std::map<NodeId, uint64_t> draining_;  // number of each node's drain action
  std::set<NodeId> cordoned_;
  std::set<JobId> suspended_;
  Counters counters_;
  Channel<ActionRow> rows_;
};

}  // namespace orrery
