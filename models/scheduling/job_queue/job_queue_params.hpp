// models/scheduling/job_queue/job_queue_params.hpp -- the section `policy.job_queue` of a scenario.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/facts/fact.hpp"
#include "models/scheduling/contract/counted.hpp"
#include "sim/config/fields.hpp"
#include "sim/core/enum_names.hpp"

namespace orrery {

enum class EstimateKind : uint8_t { Exact, Requested, RecentTwo, Noisy };
constexpr std::array<std::string_view, 4> enum_names(EstimateKind) {
  return {"exact", "requested", "recent_two", "noisy"};
}
enum class Correction : uint8_t { Requested, Steps, Doubling };
constexpr std::array<std::string_view, 3> enum_names(Correction) {
  return {"requested", "steps", "doubling"};
}
struct EstimateParams {
  static constexpr std::string_view kDoc = "How the job queue estimates run times.";
  EstimateKind kind = EstimateKind::Requested;
  double factor = 1;
  double sigma = 0;
  Correction correction = Correction::Requested;

  template <class V>
  void fields(V& v) {
    v("kind", kind,
      "exact: the real run time; requested: the user's request, or else the real run time; "
      "recent_two: the mean of the user's last two runs, in whole seconds, at most the request; "
      "noisy: the real run time, times a lognormal error.",
      Source{"recent_two: Tsafrir, Etzion, Feitelson, TPDS 2007"});
    v("factor", factor, "Multiplies every estimate.", Range{0.001, 1000.0});
    v("sigma", sigma, "For noisy: sigma of the lognormal error, which has median 1.",
      Range{0.0, 10.0}, Heeded{kind == EstimateKind::Noisy, "kind is not noisy"});
    v("correction", correction,
      "New estimate of a run that exceeds its estimate. requested: the request; steps: the first "
      "estimate plus 1 min, 5 min, 15 min, 30 min, 1 h, ... 100 h, at most the request; doubling: "
      "twice the last estimate. If requested or steps would not raise the estimate, it is doubled.",
      Source{"steps: Tsafrir, Etzion, Feitelson, TPDS 2007"});
  }
  void check(Checker& c) const {
    if (kind == EstimateKind::Noisy && sigma == 0) c.error("sigma", "must be above 0 for noisy");
  }
};

enum class React : uint8_t { EachInstant, EachEvent };
constexpr std::array<std::string_view, 2> enum_names(React) {
  return {"each_instant", "each_event"};
}

enum class IfInfeasible : uint8_t { SetAside, Block, Fail };
constexpr std::array<std::string_view, 3> enum_names(IfInfeasible) {
  return {"set_aside", "block", "fail"};
}

struct StopParams {
  static constexpr std::string_view kDoc = "Costs of stopping a running job for another job.";
  Duration write = {};
  Duration restart = {};

  template <class V>
  void fields(V& v) {
    v("write", write, "Time to write a checkpoint. The job holds its resources during this time.");
    v("restart", restart, "Time to load the checkpoint, unless the job's `restore` is longer.");
  }
};

struct CountedCostParams {
  static constexpr std::string_view kDoc =
      "Delays of starts and ends for jobs without pods (driver: counting).";
  Duration release_delay = {};
  Duration batch_start = {};

  template <class V>
  void fields(V& v) {
    v("release_delay", release_delay,
      "Time from a job's end until its resources are free, as with an epilog or terminating pods.",
      Source{"simulators of batch systems have no such delay"});
    v("batch_start", batch_start,
      "Time to start all jobs of one plan together, whatever their number. The jobs compute after "
      "this time, and the queue plans again only after it.",
      Source{"simulators of batch systems have no such delay"});
  }
};

struct JobPolicyParams {
  static constexpr std::string_view kDoc = "A policy of the job queue.";
  std::string name;
  RawParams args;

  template <class V>
  void fields(V& v) {
    v("name", name, "Name of the policy; see `orrery describe`.", Required{}, Example{"EASY"});
    v("args", args, "Arguments of the policy.");
  }
};

struct JobQueueParams {
  static constexpr std::string_view kDoc = "Whole jobs wait here until the policies start them.";
  std::vector<JobPolicyParams> policies;
  EstimateParams estimates;
  std::vector<Counted> counts = {Counted::Gpus};
  React react = React::EachInstant;
  IfInfeasible infeasible = IfInfeasible::SetAside;
  StopParams stops;
  CountedCostParams costs;

  template <class V>
  void fields(V& v) {
    v("policies", policies,
      "At most one QueueOrder (default: FIFO), at most one Plan (default: Strict), and any number "
      "of Admit policies.");
    v("estimates", estimates, "Estimates of run times.");
    v("counts", counts,
      "Resources that the job queue counts, each in total over all nodes. A job starts only if "
      "enough of each is free. Plans make reservations only for the first resource of the list. "
      "The list must include gpus if driver is counting and a job requests GPUs.");
    v("react", react,
      "When the queue plans. each_instant: once after all events of the same time. each_event: "
      "first, all jobs that ended at their estimated time free their resources. Then the queue "
      "plans once for each arrival, and once for each job that ended earlier or later than "
      "estimated. Without such an arrival or end, the queue plans once.",
      Source{"each_event: parallel-job simulators such as pyss"});
    v("infeasible", infeasible,
      "What happens to a job that requests more than all nodes, up or down, have together. "
      "set_aside: the job waits for ever, outside the queue. block: the job keeps its position in "
      "the queue. Strict then starts no job behind it (FIFO schedulers do the same); EASY makes no "
      "reservation for another job; SlurmBackfill starts jobs behind it only every bf_interval; "
      "DRF starts no other job of the same owner. Plans that skip jobs that do not fit, such as "
      "Skip, skip this job, too. fail: the job fails at once.");
    v("stops", stops, "Costs of stopping a running job.", Heeded{Fact::QueueStops});
    v("costs", costs, "Delays of starts and ends for jobs without pods.",
      Heeded{Fact::CountedJobs});
  }
  void check(Checker& c) const;
};

// The policies of `params`, plus FIFO if no QueueOrder is listed, and Strict if no Plan is listed.
std::vector<JobPolicyParams> resolve_job_policies(const JobQueueParams& params);
void check_job_queue(const JobQueueParams& params, const std::string& path,
                     const config::Node& node, Diagnostics& diagnostics);

}  // namespace orrery
