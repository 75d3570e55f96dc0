// models/controllers/controllers.hpp -- runs the policies of policy.controllers.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "models/controllers/action_executor.hpp"
#include "models/controllers/board_of_run.hpp"
#include "models/controllers/control_news.hpp"
#include "models/controllers/disruption_budgets.hpp"
#include "models/scheduling/contract/policy_fault.hpp"
#include "models/scheduling/controller_params.hpp"
#include "sim/engine/timer.hpp"
#include "sim/runtime/sim.hpp"

namespace orrery {

// Each controller ticks once per period, and at the times that it sets by Actions::wake_at().
// Controllers that are due at one instant tick in the order of policy.controllers; the actions of
// one controller are begun before the next controller ticks. Example: controller A has a period of
// 1 min, and controller B a period of 90 s. A ticks at 1 min, B at 90 s, A at 2 min, and both tick
// at 3 min, in the order of the list. A controller that idles skips its periodic ticks until the
// time given to Actions::idle_until(), or until ControlNews::changed is emitted, if that is
// earlier. Example: A idles from 1 min on, and a job arrives at 4 min 10 s. The next tick of A is
// at 5 min.
class Controllers {
 public:
  struct Parts {
    ClusterState& cluster;
    const JobTable& jobs;
    JobController& controller;
    Scheduler& scheduler;
    NodePresence& presence;
    const NodeLifecycle* lifecycle = nullptr;
    ControllerApi* api = nullptr;
    NodeGroups* groups = nullptr;  // only with control_plane.autoscaler
    std::function<uint32_t(NodeId node)> ports_down = {};
    bool has_job_queue = false;
  };
  Controllers(Sim sim, const Parts& parts, const std::vector<ControllerParams>& controllers,
              const std::vector<DisruptionBudgetParams>& budgets);
  Controllers(const Controllers&) = delete;
  Controllers& operator=(const Controllers&) = delete;

  void connect(JobNews& jobs, PodNews& pods, NodeNews& nodes);
  void start();
  void finish() { executor_.finish(); }
  void add_summary(Recorder& recorder) const;
  // Names in policies' arguments that did not occur in the run.
  std::vector<std::string> notes() const;
  bool holds_back() const { return executor_.holds_back(); }
  const DisruptionBudgets& budgets() const { return budgets_; }

 private:
  struct Entry {
    std::string name;
    std::unique_ptr<Policy> policy;
    Bound<Controller> point;
    Duration period;
    Time next;         // first multiple of `period` since the start that is after the last tick
    Time idles_until;  // periodic ticks before this time are skipped
    Time wakes_at = Time::max();
    Time due;  // time of the next tick, by the three members above
    // Number of entries that the controller has read in each log of ControlNews.
    uint64_t node_changes = 0, gang_failures = 0;
  };
  void add(const ControllerParams& params);
  void tick_due();
  void tick(uint32_t number);
  // The first time, at `from` or later, that is a whole number of periods after the start.
  Time first_of_period(Duration period, Time from) const;
  void set_due(Entry& entry);
  void end_idling();
  void drop_read_news();
  void plan();

  Sim sim_;
  const JobController& controller_;
  DisruptionBudgets budgets_;
  ControlNews news_;
  ActionExecutor executor_;
  Board board_;
  std::deque<Entry> entries_;
  Time started_;
  Time last_tick_{-1};  // the instant in which controllers ticked last
  uint32_t turn_ = 0;   // index of the controller that ticks; afterwards, the number of controllers
  Time planned_;        // time of `next_tick_`
  EventId next_tick_;
  uint64_t ticks_ = 0;
};

}  // namespace orrery
