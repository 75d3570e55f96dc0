// models/scheduling/job_queue/job_policies.hpp -- the policies of a job queue, by extension point.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "models/scheduling/contract/points.hpp"
#include "models/scheduling/contract/policy_fault.hpp"
#include "models/scheduling/job_queue/job_queue_params.hpp"

namespace orrery {

// A job queue has one QueueOrder, one Plan, and any number of Admits and JobWatchers.
class JobPolicies {
 public:
  // `board` must outlive the policies. Constructors of policies may call functions of `board`.
  JobPolicies(JobBoard& board, const JobQueueParams& params);

  const Bound<QueueOrder>& order() const { return at<QueueOrder>().back(); }
  const Bound<Plan>& plan() const { return at<Plan>().back(); }
  // An Admit that rejects the job; null: the job may start.
  const Bound<Admit>* who_refuses(const QueuedJob& job) const;
  // Calls a method of all watchers. Example: `tell(&JobWatcher::job_waits, job)`.
  template <class News, class Of>
  void tell(News news, const Of& of) const {
    for (const Bound<JobWatcher>& watcher : at<JobWatcher>()) watcher.call(news, of);
  }
  // One warning for each name in a policy's arguments that does not occur in the run, such as a
  // team without jobs.
  std::vector<std::string> notes() const;

 private:
  template <class P>
  using Serving = std::vector<Bound<P>>;
  template <class P>
  const Serving<P>& at() const {
    return std::get<Serving<P>>(bound_);
  }
  void add(JobBoard& board, const JobPolicyParams& params);

  std::vector<std::unique_ptr<Policy>> policies_;
  std::deque<std::string> names_;  // a deque, because each Bound has a pointer to its name
  JobPoints::Each<Serving> bound_;
};

}  // namespace orrery
