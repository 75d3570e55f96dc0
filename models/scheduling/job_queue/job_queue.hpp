// models/scheduling/job_queue/job_queue.hpp -- where whole jobs wait until the policies let them
// start.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "models/hardware/machine.hpp"
#include "models/scheduling/contract/job_policy_api.hpp"
#include "models/scheduling/contract/policy_api.hpp"
#include "models/scheduling/contract/policy_fault.hpp"
#include "models/scheduling/job_queue/job_queue_log.hpp"
#include "models/scheduling/job_queue/job_queue_params.hpp"
#include "models/scheduling/job_queue/queue_statistics.hpp"
#include "models/scheduling/job_queue/runtime_estimates.hpp"
#include "models/workload/lifecycle/job_controller.hpp"
#include "sim/engine/timer.hpp"
#include "sim/runtime/sim.hpp"

namespace orrery {

// Stands between the arrival of a job and its pods. News of one instant is taken in when all of it
// is known, in phase Control; then Plan says who starts. With the counting driver a job that
// starts has what it asked for; otherwise its pods are created and go their way to the scheduler.
class JobQueue final : private JobBoard {
 public:
  JobQueue(Sim sim, const ClusterState& cluster, const JobTable& jobs, JobController& controller,
           const JobQueueParams& params, std::span<const Machine> machines, bool is_counting,
           Overruns overruns = Overruns::Keep, bool record_decisions = false);
  JobQueue(const JobQueue&) = delete;
  JobQueue& operator=(const JobQueue&) = delete;

  void node_changed(NodeId node, bool is_up);
  size_t jobs_waiting() const { return waiting_.size() + held_.size(); }
  void add_summary(Recorder& recorder, Time end) const;
  void audit() const;                      // the pool is what its jobs hold
  std::vector<std::string> notes() const;  // what policies name in vain, once the run is over

 private:
  // ---- JobBoard: what policies may see and ask
  Time now() const override { return sim_.engine.now(); }
  Rng rng(std::string_view stream) const override { return sim_.rng.stream(stream); }
  const QueuedJob& job(JobSlot job) const override;
  std::string_view user_name(uint32_t user) const override { return users_.names[user]; }
  std::string_view team_name(uint32_t team) const override { return teams_.names[team]; }
  std::string_view application_name(uint32_t application) const override {
    return applications_.names[application];
  }
  bool has_user(const std::string& name) const override { return users_.numbers.contains(name); }
  bool has_team(const std::string& name) const override { return teams_.numbers.contains(name); }
  bool has_application(const std::string& name) const override {
    return applications_.numbers.contains(name);
  }
  std::span<const PoolPart> parts() const override { return parts_; }
  int64_t capacity() const override { return capacity_[counted_]; }
  int64_t unit() const override;
  int64_t free() const override { return capacity_[counted_] - used_[counted_]; }
  const Resources& capacities() const override { return capacity_; }
  bool fits(const QueuedJob& job) const override;
  const JobTree& waiting() const override { return waiting_; }
  const JobTree& running() const override { return running_; }
  JobSlot head() override;
  bool start(JobSlot job) override;
  bool stop(JobSlot job) override;
  bool has_paces() const override { return is_counting_; }
  void set_pace(JobSlot job, Pace pace) override;
  bool start_beside(JobSlot job, JobSlot host) override;
  void wake_at(Time when) override;

  struct Names {  // numbers in order of first use
    std::vector<std::string> names;
    std::unordered_map<std::string, uint32_t> numbers;  // looked up, never iterated
    uint32_t number(const std::string& name);
  };
  void add_policy(const JobPolicyParams& params);
  void job_arrived(JobId id);
  void job_over(JobId id);
  void job_released(JobSlot job);
  Duration start_cost() const;
  void run_counted(const QueuedJob& job);
  void job_suspended(JobId id);
  void react_soon();
  void react();
  void react_to_each(PlanNews news);
  bool correct_overdue();
  bool take_in(JobSlot job);
  void enqueue(JobSlot job);
  void give_back(JobSlot job);
  void begin(QueuedJob& job);
  void part(QueuedJob& job);
  void track(JobSlot job);  // among those that run
  void take_back_ended(JobSlot job);
  void take_back_stopped(JobSlot job);
  void plan(const PlanNews& news);
  void rerank();
  const Bound<Admit>* who_refuses(const QueuedJob& job) const;  // null: it may start
  void hold(JobSlot job, const Bound<Admit>& by);
  QueuedJob& record(JobSlot job);
  void add_node(NodeId node, int sign);

  Sim sim_;
  const ClusterState& cluster_;
  const JobTable& jobs_;
  JobController& controller_;
  const bool is_counting_;
  const Overruns overruns_;
  const React react_;
  const StopParams stopping_;
  const CountedCostParams costs_;
  Time plans_from_;  // before, the jobs of the last plan are being started
  std::vector<Resource> counts_;
  Resource counted_;
  RuntimeEstimates estimates_;
  Resources total_, capacity_, used_;
  std::vector<PoolPart> parts_;
  std::vector<size_t> part_of_;  // by machine
  std::vector<QueuedJob> records_;
  std::vector<JobSlot> free_slots_;
  std::vector<JobSlot> slot_of_;  // by job
  JobTree waiting_, running_;
  std::vector<JobSlot> held_;
  std::vector<JobSlot> arrived_, ended_, suspended_;  // in this instant, not yet taken in
  std::vector<JobSlot> new_, retry_;                  // scratch
  uint64_t infeasible_ = 0;
  Names users_, teams_, applications_;
  std::vector<std::unique_ptr<Policy>> policies_;
  std::deque<std::string> policy_names_;  // they stay where they are
  Bound<QueueOrder> order_;
  Bound<Plan> plan_;
  std::vector<Bound<Admit>> admits_;
  std::vector<Bound<JobWatcher>> watchers_;
  Time ranked_at_;
  bool is_reacting_soon_ = false, has_changed_ = false, is_planning_ = false;
  Timer wake_;
  Time wakes_at_;
  QueueStatistics statistics_;
  JobQueueLog log_;
};

}  // namespace orrery
