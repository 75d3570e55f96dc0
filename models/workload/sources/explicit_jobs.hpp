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
  static constexpr std::string_view kDoc = "A job, or several equal jobs.";

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
    v("name", name, "Name; empty: job-N, where N counts the jobs of the list from 0.");
    v("user", user, "The user who submits the job.");
    v("team", team, "Team, virtual cluster or namespace.");
    v("application", application,
      "The application, such as a model. Policies that know the speed of each application use it.");
    v("kind", kind,
      "mpi_gang: the pods are ranks of one communicator; pods: the pods are independent.");
    v("controller", controller,
      "The controller that creates the pods. job and replica_set create them in batches of 1, 2, "
      "4, ...; parallel_stateful_set creates all pods at once; ordered_stateful_set creates each "
      "pod when the pod before it is ready.",
      Heeded{Fact::Pods, controller != WorkloadKind::Job});
    v("submit", submit, "Time from the start of the run to the job's submission.", IsInstant{});
    v("work", work,
      "Compute time, without waits and checkpoints. With kind: pods, the compute time of each pod.",
      Required{});
    v("requested", requested,
      "The user's estimate of the job's maximum duration. Job queues use it, and so does "
      "workload.controller.overruns: kill.",
      Heeded{Fact::HeededRequests});
    v("cancel_after", cancel_after,
      "The user cancels the job this long after its submission, unless it has started by then. A "
      "gang has started once enough of its pods have been bound; a job of kind: pods has started "
      "once one pod has been bound. Absent: never.");
    v("priority", priority, "Priority of the job's pods.", kPriorities);
    v("pods", pods, "Number of pods, which are all alike.", Range{1, 1'000'000}, Unit{"pods"});
    v("min_available", min_available,
      "Number of pods that must be up before the job can run; 0: all. Once they are up, the job "
      "waits up to workload.controller.last_call for the other pods.",
      Range{0, 1'000'000}, Unit{"pods"}, Heeded{Fact::Pods},
      Heeded{min_available == 0 || kind == JobKind::MpiGang,
             "kind is pods (each pod starts on its own)"});
    v("pod", pod, "Requests of each pod.");
    v("gangs", gangs,
      "Gangs of several roles, in place of `pods`, `min_available` and `pod`. With kind: pods, "
      "only one entry is allowed, and its pods are independent.");
    v("training", training, "Start, checkpoints and restarts; absent: as in workload.training.");
    v("count", count, "Number of jobs like this one.", Range{1, 10'000'000}, Unit{"jobs"});
    v("every", every,
      "Time between two successive submissions of these jobs; 0: all arrive at once.",
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

// Jobs are sorted by submission time; jobs with equal times keep their order in the list.
std::unique_ptr<JobSource> make_explicit_jobs(const ExplicitJobsParams& params,
                                              const TrainingParams& training);

}  // namespace orrery
