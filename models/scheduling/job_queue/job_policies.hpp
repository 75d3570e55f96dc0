// models/scheduling/job_queue/job_policies.hpp -- the policies of a job queue, each at the points
// that it serves.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "models/scheduling/contract/job_policy_api.hpp"
#include "models/scheduling/contract/policy_api.hpp"
#include "models/scheduling/contract/policy_fault.hpp"
#include "models/scheduling/job_queue/job_queue_params.hpp"

namespace orrery {

// One QueueOrder and one Plan, any number of Admits and JobWatchers.
class JobPolicies {
 public:
  // `board` must outlive the policies; their constructors may already ask it.
  JobPolicies(JobBoard& board, const JobQueueParams& params);

  const Bound<QueueOrder>& order() const { return order_; }
  const Bound<Plan>& plan() const { return plan_; }
  const Bound<Admit>* who_refuses(const QueuedJob& job) const;  // null: it may start
  template <class News>  // `tell(&JobWatcher::job_waits, job)`
  void tell(News news, const QueuedJob& job) const {
    for (const Bound<JobWatcher>& watcher : watchers_) watcher.call(news, job);
  }
  std::vector<std::string> notes() const;  // what policies name in vain, once the run is over

 private:
  void add(JobBoard& board, const JobPolicyParams& params);

  std::vector<std::unique_ptr<Policy>> policies_;
  std::deque<std::string> names_;  // they stay where they are
  Bound<QueueOrder> order_;
  Bound<Plan> plan_;
  std::vector<Bound<Admit>> admits_;
  std::vector<Bound<JobWatcher>> watchers_;
};

}  // namespace orrery
