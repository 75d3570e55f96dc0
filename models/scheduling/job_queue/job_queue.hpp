// models/scheduling/job_queue/job_queue.hpp -- the queue of whole jobs before their pods are
// created.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models/hardware/machine.hpp"
#include "models/hardware/node_news.hpp"
#include "models/scheduling/contract/job_policy_api.hpp"
#include "models/scheduling/job_queue/counted_pool.hpp"
#include "models/scheduling/job_queue/job_policies.hpp"
#include "models/scheduling/job_queue/job_queue_log.hpp"
#include "models/scheduling/job_queue/job_queue_params.hpp"
#include "models/scheduling/job_queue/job_records.hpp"
#include "models/scheduling/job_queue/queue_statistics.hpp"
#include "models/scheduling/job_queue/running_jobs.hpp"
#include "models/scheduling/job_queue/runtime_estimates.hpp"
#include "models/scheduling/job_queue/waiting_jobs.hpp"
#include "models/workload/lifecycle/job_controller.hpp"
#include "sim/engine/timer.hpp"
#include "sim/runtime/sim.hpp"

namespace orrery {

// Events that the job queue has not processed yet.
struct QueueNews {
  std::vector<JobSlot> arrived, ended, suspended;
  bool has_room = false;  // PlanNews::has_room, not counting jobs in `ended` and `suspended`
  bool will_be_taken_in = false;
};

// Facts about the rest of the scenario.
struct JobQueueSurroundings {
  bool is_counting = false;    // whether the driver is `counting`: jobs have no pods
  bool chooses_nodes = false;  // whether a scheduler plugin heeds the nodes chosen for a job
  Overruns overruns = Overruns::Keep;
  bool record_decisions = false;
};

// Holds jobs between their arrival and the creation of their pods. The events of an instant are
// collected and then processed together, in phase Control. Then the Plan policy decides which
// jobs start. With the counting driver a started job takes its resources out of the pool. With
// other drivers its pods are created and go to the scheduler.
//
// Example: of 8 GPUs, job A uses 6. B (4 GPUs) and C (2 GPUs) wait, in this order, and the Plan is
// EASY. C fits now and would end before A, so Plan starts C. B has a reservation at the end of A.
class JobQueue final : private JobBoard {
 public:
  JobQueue(Sim sim, const ClusterState& cluster, const JobTable& jobs, JobController& controller,
           const JobQueueParams& params, std::span<const Machine> machines,
           const JobQueueSurroundings& around);
  JobQueue(const JobQueue&) = delete;
  JobQueue& operator=(const JobQueue&) = delete;

  void connect(NodeNews& nodes);
  size_t jobs_waiting() const { return waiting_.size(); }
  void add_summary(Recorder& recorder, Time end) const;
  void audit() const;  // checks that the started jobs hold as much as the pool counts as used
  std::vector<std::string> notes() const { return policies_.notes(); }

 private:
  // ---- JobBoard: queries of policies
  Time now() const override { return sim_.engine.now(); }
  uint64_t seed() const override { return sim_.rng.seed(); }
  const ClusterState& cluster() const override { return pool_.cluster(); }
  Rng rng(std::string_view stream) const override { return sim_.rng.stream(stream); }
  const QueuedJob& job(JobSlot job) const override { return records_[job]; }
  std::string_view user_name(uint32_t n) const override { return records_.users().name(n); }
  std::string_view team_name(uint32_t n) const override { return records_.teams().name(n); }
  std::string_view application_name(uint32_t n) const override {
    return records_.applications().name(n);
  }
  bool has_user(const std::string& name) const override { return records_.users().has(name); }
  bool has_team(const std::string& name) const override { return records_.teams().has(name); }
  bool has_application(const std::string& name) const override {
    return records_.applications().has(name);
  }
  std::span<const PoolPart> parts() const override { return pool_.parts(); }
  int64_t capacity() const override { return pool_.capacity(); }
  int64_t unit() const override { return pool_.unit(); }
  int64_t free() const override { return pool_.free(); }
  const Resources& capacities() const override { return pool_.capacities(); }
  const Resources& used() const override { return pool_.used(); }
  std::span<const Counted> counts() const override { return pool_.counts(); }
  bool fits(const QueuedJob& job) const override { return pool_.fits(job.ask.request); }
  const JobTree& waiting() const override { return waiting_.in_order(); }
  const JobTree& running() const override { return running_.by_end(); }
  bool has_paces() const override { return around_.is_counting; }
  bool chooses_nodes() const override { return around_.chooses_nodes; }
  Duration setup(JobSlot job) const override;
  // ---- JobBoard: commands of policies (job_queue_commands.cpp)
  JobSlot head() override;
  bool start(JobSlot job) override { return start(job, nullptr); }
  bool start_on(JobSlot job, const NodeSet& nodes) override { return start(job, &nodes); }
  bool start_beside(JobSlot job, JobSlot host) override;
  bool stop(JobSlot job) override;
  bool cancel(JobSlot job) override;
  void set_pace(JobSlot job, Pace pace) override;
  void wake_at(Time when) override;
  bool start(JobSlot job, const NodeSet* nodes);
  // Returns true if an Admit rejects the job. The job is then held.
  bool is_refused(const QueuedJob& job);
  void begin(QueuedJob& job);
  void run_counted(const QueuedJob& job);
  Duration start_cost() const;

  // ---- news
  void node_changed(NodeId node, bool is_up);
  void job_arrived(JobId id);
  void job_computes(JobId id);
  void job_over(JobId id);
  void job_over_unstarted(QueuedJob& job);
  void job_released(JobSlot job);
  void job_suspended(JobId id);
  // ---- processing of events
  void react_soon();
  void react();
  void react_to_all(bool has_room);
  void react_to_each(bool has_room);
  bool take_in(JobSlot job);  // returns false if the job is infeasible and does not wait
  void take_back(JobSlot job);
  void take_back_ended(JobSlot job);
  void take_back_stopped(JobSlot job);
  void plan(const PlanNews& news);

  Sim sim_;
  const JobTable& jobs_;
  JobController& controller_;
  const JobQueueParams params_;
  const JobQueueSurroundings around_;
  CountedPool pool_;
  RuntimeEstimates estimates_;
  JobRecords records_;
  WaitingJobs waiting_;
  RunningJobs running_;
  QueueNews news_;
  // Plan is not called before this time, because jobs that Plan started are still being launched.
  Time plans_from_;
  bool is_planning_ = false;
  Timer wake_;
  Time wakes_at_;
  QueueStatistics statistics_;
  JobQueueLog log_;
  JobPolicies policies_;
};

}  // namespace orrery
