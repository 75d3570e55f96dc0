// models/workload/sources/explicit_jobs.hpp -- jobs listed in the scenario.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/facts/fact.hpp"
#include "models/workload/job/job_source.hpp"
#include "models/workload/job/pod_params.hpp"
#include "models/workload/sources/explicit_gang_params.hpp"
#include "models/workload/sources/training_params.hpp"
#include "sim/config/fields.hpp"

namespace orrery {

// Bounds memory: a pod takes about 400 bytes from its creation to its end.
constexpr int64_t kPodsAtOnceMax = 10'000'000;

struct ExplicitJobParams {
  static constexpr std::string_view kDoc = "A job, or several equal ones.";

  std::string name = {}, user = {}, team = {}, application = {};
  JobKind kind = JobKind::MpiGang;
  WorkloadKind controller = WorkloadKind::Job;
  Duration submit = {};
  Duration work = 1_h;
  std::optional<Duration> requested = {};
  std::optional<Duration> cancel_after = {};
  int32_t priority = 0;
  int32_t pods = 1;
  int32_t min_available = 0;
  PodParams pod = {};
  std::vector<ExplicitGangParams> gangs = {};
  std::optional<TrainingParams> training = {};
  int32_t count = 1;
  Duration every = {};

  template <class V>
  void fields(V& v) {
    v("name", name, "Name; empty: job-N, numbered through the list.");
    v("user", user, "Who submits it.");
    v("team", team, "Team, virtual cluster or namespace.");
    v("application", application,
      "Its application, such as a model, for policies with speeds of applications.");
    v("kind", kind, "mpi_gang: all pods are ranks of one communicator; pods: independent ones.");
    v("controller", controller,
      "The controller that creates its pods: job and replica_set in batches of 1, 2, 4, ..., "
      "parallel_stateful_set all at once, ordered_stateful_set each when the one before is ready.",
      Heeded{Fact::Pods, controller != WorkloadKind::Job});
    v("submit", submit, "When it is submitted, from the start of the run.", IsInstant{});
    v("work", work, "Compute time, without waits and checkpoints; of each pod for kind: pods.",
      Required{});
    v("requested", requested,
      "The user's estimate of its maximum duration, for a job queue that uses it.",
      Heeded{Fact::HeededRequests});
    v("cancel_after", cancel_after,
      "Time after its submission at which its user cancels the job if it has not started; a job "
      "that would start at that very instant is cancelled. A gang has started once it has its "
      "nodes, independent pods once one of them has. Absent: never.");
    v("priority", priority, "Priority of its pods.", kPriorities);
    v("pods", pods, "Number of equal pods.", Range{1, 1'000'000}, Unit{"pods"});
    v("min_available", min_available,
      "Pods that must be up before it starts; 0: all. It then waits up to "
      "workload.controller.last_call for the others.",
      Range{0, 1'000'000}, Unit{"pods"}, Heeded{Fact::Pods},
      Heeded{min_available == 0 || kind == JobKind::MpiGang, "pods of kind: pods are independent"});
    v("pod", pod, "Requests of each pod.");
    v("gangs", gangs,
      "Instead of pods, min_available and pod: gangs of several roles. With kind: pods, only one "
      "entry; the pods of its roles are independent.");
    v("training", training, "Start, checkpoints and restarts; absent: the workload's.");
    v("count", count, "Number of such jobs.", Range{1, 10'000'000}, Unit{"jobs"});
    v("every", every, "Time from one of them to the next; 0: all at once.",
      Heeded{count > 1, "there is a single job"});
  }
  void check(Checker& c) const;
};

struct ExplicitJobsParams {
  static constexpr std::string_view kKind = "jobs";
  static constexpr std::string_view kDoc = "Jobs listed one by one.";

  std::vector<ExplicitJobParams> jobs = {};

  template <class V>
  void fields(V& v) {
    v("jobs", jobs, "The jobs, in any order.", Required{});
  }
  template <class C>
  void check(C& c) const {
    if (jobs.empty()) c.error("jobs", "needs a job");
  }
};

// Jobs are sorted by submission, those of equal times by their place in the list.
std::unique_ptr<JobSource> make_explicit_jobs(const ExplicitJobsParams& params,
                                              const TrainingParams& training);

}  // namespace orrery
