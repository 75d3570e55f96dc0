// models/scheduling/job_queue/running_jobs.hpp -- the jobs that hold resources of the pool, in
// order of expected end.
#pragma once

#include "models/scheduling/contract/job_policy_api.hpp"
#include "models/scheduling/job_queue/job_policies.hpp"
#include "models/scheduling/job_queue/job_records.hpp"
#include "models/scheduling/job_queue/runtime_estimates.hpp"
#include "sim/engine/engine.hpp"

namespace orrery {

// A job is listed from its start until its resources are returned. So a job that is being stopped
// is listed while it writes its last checkpoint. A change of its pace, estimate or expected end
// moves the job in the order, and is reported to the watchers.
class RunningJobs {
 public:
  RunningJobs(const Engine& engine, JobRecords& records, const RuntimeEstimates& estimates,
              const JobPolicies& policies, Resource counted)
      : engine_{engine},
        records_{records},
        estimates_{estimates},
        policies_{policies},
        counted_{counted} {}

  const JobTree& by_end() const { return by_end_; }
  void begin(QueuedJob& job, Duration setup);  // the caller must have set `held` and the pace
  void computes(QueuedJob& job);  // the job's pods have started: its run time counts from now
  void set_pace(QueuedJob& job, Pace pace);
  void expect_end(QueuedJob& job, Time end);
  // Separates two jobs that share GPUs: `leaves` gives up the GPUs, and its partner keeps them.
  // Returns the partner.
  QueuedJob& part(QueuedJob& leaves);
  void remove(JobSlot slot) { by_end_.erase(slot); }
  // Each job that has not ended by its expected end gets a later expected end. Returns true if
  // there was such a job.
  bool correct_overdue();

 private:
  Time now() const { return engine_.now(); }
  void insert(const QueuedJob& job);
  // Inserts the job at its new position, and reports its new end to the watchers.
  void end_moves(const QueuedJob& job);
  void correct(QueuedJob& job) const;

  const Engine& engine_;
  JobRecords& records_;
  const RuntimeEstimates& estimates_;
  const JobPolicies& policies_;
  const Resource counted_;
  JobTree by_end_;
};

}  // namespace orrery
