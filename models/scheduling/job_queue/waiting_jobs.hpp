// models/scheduling/job_queue/waiting_jobs.hpp -- waiting jobs in rank order, and jobs held back.
#pragma once

#include <vector>

#include "models/scheduling/contract/job_policy_api.hpp"
#include "models/scheduling/job_queue/job_policies.hpp"
#include "models/scheduling/job_queue/job_records.hpp"
#include "sim/engine/engine.hpp"

namespace orrery {

// Waiting jobs are sorted by rank. A job that an Admit policy rejects is held outside the queue
// until retry_held(). Every job that enters or leaves the queue is reported to the watchers.
class WaitingJobs {
 public:
  WaitingJobs(const Engine& engine, JobRecords& records, const JobPolicies& policies)
      : engine_{engine}, records_{records}, policies_{policies} {}

  const JobTree& in_order() const { return in_order_; }
  size_t size() const { return in_order_.size() + held_.size(); }

  void add(JobSlot slot);
  void leave(JobSlot slot);     // the job starts
  void hold(JobSlot slot);      // an Admit rejected the job
  void withdraw(JobSlot slot);  // the job's user cancelled it while it waited or was held
  void retry_held();            // puts all held jobs back into the queue
  void rerank_if_due();

 private:
  void insert(const QueuedJob& job, int64_t rank);

  const Engine& engine_;
  JobRecords& records_;
  const JobPolicies& policies_;
  JobTree in_order_;
  std::vector<JobSlot> held_;
  std::vector<JobSlot> scratch_;
  Time ranked_at_;
};

}  // namespace orrery
