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
  static constexpr std::string_view kDoc = "How long the job queue believes jobs will run.";
  EstimateKind kind = EstimateKind::Requested;
  double factor = 1;
  double sigma = 0;
  Correction correction = Correction::Requested;

  template <class V>
  void fields(V& v) {
    v("kind", kind,
      "exact: the run itself; requested: what its user asked for, or exact where that is not "
      "recorded; recent_two: the mean of the user's last two runs, in whole seconds, at most what "
      "was requested; noisy: exact, times a lognormal error.",
      Source{"recent_two: Tsafrir, Etzion, Feitelson, TPDS 2007"});
    v("factor", factor, "Multiplies every estimate.", Range{0.001, 1000.0});
    v("sigma", sigma, "Of noisy: deviation of the logarithm of the error, whose median is 1.",
      Range{0.0, 10.0}, Heeded{kind == EstimateKind::Noisy, "kind is not noisy"});
    v("correction", correction,
      "Of a run longer than its estimate. requested: to what was requested; steps: 1 min, 5 min, "
      "15 min, 30 min, 1 h, ... 100 h above the first estimate, at most what was requested; "
      "doubling: twice the estimate. A run beyond all that doubles it.",
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

// What happens to a job that requests more than all nodes have.
enum class IfInfeasible : uint8_t { SetAside, Block, Fail };
constexpr std::array<std::string_view, 3> enum_names(IfInfeasible) {
  return {"set_aside", "block", "fail"};
}

struct StopParams {
  static constexpr std::string_view kDoc = "What it costs to stop a running job for another.";
  Duration write = {};
  Duration restart = {};

  template <class V>
  void fields(V& v) {
    v("write", write, "Its checkpoint, during which it holds what it has.");
    v("restart", restart, "Before it goes on, unless its own `restore` is longer.");
  }
};

struct CountedCostParams {
  static constexpr std::string_view kDoc =
      "What starts and ends cost jobs that have no pods (driver: counting).";
  Duration release_delay = {};
  Duration batch_start = {};

  template <class V>
  void fields(V& v) {
    v("release_delay", release_delay,
      "From the end of a job until what it held is free, as with an epilog or pods that end.",
      Source{"0: simulators of batch systems charge nothing"});
    v("batch_start", batch_start,
      "How long it takes to start the jobs of one plan, however many they are: they start "
      "to compute that much later, and what happens meanwhile is looked at then.",
      Source{"0: simulators of batch systems charge nothing"});
  }
};

struct JobPolicyParams {
  static constexpr std::string_view kDoc = "A policy of the job queue.";
  std::string name;
  RawParams args;

  template <class V>
  void fields(V& v) {
    v("name", name, "Name of the policy; see `orrery describe`.", Required{}, Example{"EASY"});
    v("args", args, "Its arguments.");
  }
};

struct JobQueueParams {
  static constexpr std::string_view kDoc =
      "Jobs wait here, as a whole, until the policies let them start.";
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
      "At most one QueueOrder (without one: FIFO), at most one Plan (without one: Strict), and "
      "Admits.");
    v("estimates", estimates, "How long jobs are believed to run.");
    v("counts", counts,
      "What jobs take out of the pool of all nodes. Reservations are made of the first; of the "
      "others there must be enough when a job starts. With driver: counting, gpus must be among "
      "them if any job asks for GPUs.");
    v("react", react,
      "each_instant: once after all that happens at one time; each_event: to each arrival and "
      "each end by itself, ends that were expected right then first.",
      Source{"each_event: parallel-job simulators such as pyss"});
    v("infeasible", infeasible,
      "What becomes of a job that asks for more than all nodes have; nodes that are down count. "
      "set_aside: the job waits for ever, outside the queue. block: the job keeps its place in the "
      "queue. Strict then starts no job behind it, as FIFO schedulers do; EASY reserves for no "
      "other job; SlurmBackfill starts jobs behind it only every bf_interval; DRF starts no other "
      "job of its owner. Plans that pass over jobs that do not fit, such as Skip, ignore it. fail: "
      "the job fails at once.");
    v("stops", stops, "For policies that stop running jobs.", Heeded{Fact::QueueStops});
    v("costs", costs, "What starts and ends cost jobs without pods.", Heeded{Fact::CountedJobs});
  }
  void check(Checker& c) const;
};

// The policies, with the defaults filled in.
std::vector<JobPolicyParams> resolve_job_policies(const JobQueueParams& params);
void check_job_queue(const JobQueueParams& params, const std::string& path,
                     const config::Node& node, Diagnostics& diagnostics);

}  // namespace orrery
