// A job on its way through the control plane: it never starts earlier at a more detailed level, and
// an infinitely fast control plane changes nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "sim/core/rng.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/scheduler_world.hpp"

namespace orrery {
namespace {

using test::kIsSanitized;

std::string number(uint64_t n) { return std::to_string(n); }

std::string rendezvous(Rng& rng) {
  constexpr const char* kLastCalls[] = {"0s", "1s", "30s", "5min"};
  constexpr const char* kMonitorIntervals[] = {"null", "0s", "100ms", "10s"};
  return std::string{"last_call: "} + kLastCalls[rng.below(4)] +
         ", monitor_interval: " + kMonitorIntervals[rng.below(4)];
}

struct RandomJob {
  std::string yaml;
  uint64_t gangs = 1;
  bool is_elastic = false;  // at least one gang may run without some of its pods
};

// An elastic gang needs at least one of its pods, but not all.
std::string random_gang(Rng& rng, uint64_t pods, bool is_elastic, const std::string& pod) {
  return "{" + (is_elastic ? "min_available: " + number(1 + rng.below(pods - 1)) + ", " : "") +
         "roles: [{pods: " + number(pods) + ", pod: " + pod + "}]}";
}

RandomJob random_job(Rng& rng, const std::string& control_plane, bool has_image) {
  constexpr const char* kBases[] = {"default", "strict_gang", "coscheduling", "native_gang",
                                    "koordinator"};
  constexpr const char* kControllers[] = {"job", "replica_set", "parallel_stateful_set",
                                          "ordered_stateful_set"};
  const uint64_t base = rng.below(5);
  const bool are_pods = rng.chance(0.3);
  const bool is_random = rng.chance(0.5);
  RandomJob job;
  job.gangs = are_pods || rng.chance(0.4) ? 1 : 2 + rng.below(3);
  const bool may_be_elastic = !are_pods && rng.chance(0.4);
  const std::string pod = "{gpus: " + number(1 + rng.below(3)) +
                          (has_image ? ", image: {name: i, size: 100MB}" : "") + "}";
  const std::string controller = kControllers[rng.below(are_pods ? 4 : 3)];
  std::string pods_or_gangs = "kind: pods, pods: " + number(1 + rng.below(12)) + ", pod: " + pod;
  if (!are_pods) {
    pods_or_gangs = "kind: mpi_gang, gangs: [";
    for (uint64_t g = 0; g < job.gangs; ++g) {
      const uint64_t pods = 1 + rng.below(12);
      const bool is_elastic = may_be_elastic && pods > 1 && rng.chance(0.8);
      job.is_elastic |= is_elastic;
      pods_or_gangs += random_gang(rng, pods, is_elastic, pod) + (g + 1 < job.gangs ? ", " : "]");
    }
  }
  job.yaml = "cluster: {pools: [{name: n, machine: dgx-a100, count: " +
             number(6 * job.gangs + rng.below(38)) + "}]}\n";
  job.yaml += "control_plane: " + control_plane + "\n";
  job.yaml += "policy: {base: " + std::string{kBases[base]} + "}\n";
  job.yaml += "workload:\n  controller: {pod_start: {median: " + number(1 + rng.below(5)) +
              "s, sigma: " + (is_random ? "0.5" : "0") + "}" +
              (job.is_elastic ? ", " + rendezvous(rng) : "") + "}\n";
  job.yaml +=
      "  sources:\n    - kind: jobs\n      jobs:\n        - {submit: " + number(rng.below(100)) +
      "s, " + pods_or_gangs + ", controller: " + controller +
      ", work: " + number(1 + rng.below(1000)) + "s}\n";
  return job;
}

struct AloneRow : JobRow {
  Duration scheduling;  // scheduler time of all attempts
};

AloneRow only_job(const std::string& yaml) {
  ScenarioRun run{yaml, {}, {.audit_every = 10}};
  EXPECT_EQ(run.jobs().size(), 1U);
  const auto busy =
      std::ranges::find(run.recorder.summary(), "scheduler_busy", &SummaryValue::name);
  return {run.jobs().at(0), nearest_ns(std::get<double>(busy->value))};
}

std::string job_of_hundreds(Rng& rng, const std::string& control_plane) {
  constexpr const char* kBases[] = {"default", "strict_gang", "coscheduling"};
  const bool are_pods = rng.chance(0.3);
  const bool is_ordered = are_pods && rng.chance(0.3);
  std::string yaml =
      "cluster: {pools: [{name: n, machine: dgx-a100, count: " + number(8 + rng.below(20)) +
      "}]}\n";
  yaml += "control_plane: " + control_plane + "\n";
  yaml += "policy: {base: " + std::string{kBases[rng.below(3)]} + "}\n";
  yaml += "workload:\n  controller: {pod_start: {median: " + number(1 + rng.below(3)) +
          "s, sigma: " + (rng.chance(0.5) ? "0.5" : "0") + "}}\n";
  yaml += "  sources: [{kind: jobs, jobs: [{pods: " + number(100 + rng.below(501)) +
          ", kind: " + (are_pods ? "pods" : "mpi_gang") +
          ", controller: " + (is_ordered ? "ordered_stateful_set" : "job") +
          ", pod: {cpus: 0.5}, work: 10s}]}]\n";
  return yaml;
}

// A job whose pods need more nodes than exist, so the autoscaler adds nodes. Coscheduling gets a
// backoff between two tries of a gang. Without the backoff, Coscheduling would retry the same
// members until their nodes exist, and the autoscaler would not see the other members. The order in
// which the pods were created would decide which members are retried, so start times at two levels
// could not be compared. Jobs under Koordinator are not elastic, because Koordinator leaves members
// of an elastic gang without a node until the scheduling queue is flushed.
std::string scaled_job(Rng& rng, const std::string& base, const std::string& level) {
  const std::string pause = base != "coscheduling"
                                ? ""
                                : ", plugins: [{name: Coscheduling, args: {podGroupBackoffSeconds: "
                                  "10}}]";
  const uint64_t there = 2 + rng.below(6), pods = 8 * there + 1 + rng.below(40);
  const bool is_elastic = base != "koordinator" && rng.chance(0.4);
  std::string pods_needed;
  std::string yaml = "cluster: {pools: [{name: n, machine: dgx-a100, count: " + number(there) +
                     "}, {name: j, machine: dgx-a100, count: 12}]}\n";
  yaml += "control_plane: {level: " + level + ", autoscaler: {groups: [{pool: j}]}}\n";
  yaml += "policy: {base: " + base + pause + "}\n";
  if (is_elastic) pods_needed = ", min_available: " + number(1 + rng.below(pods - 1));
  yaml += "workload: {" + (is_elastic ? "controller: {" + rendezvous(rng) + "}, " : "") +
          "sources: [{kind: jobs, jobs: [{submit: " + number(rng.below(100)) +
          "s, pods: " + number(pods) + pods_needed +
          ", pod: {gpus: 1}, work: " + number(1 + rng.below(100)) + "s}]}]}\n";
  return yaml + "run: {until: 3h}\n";
}

// A control plane at level full in which requests take no time. All requests of one instant are in
// flight at once, so limits on open requests must be high, too. `reads` holds further settings of
// `cost`: if nodes boot, `reads` must set the costs of LIST and WATCH to 0. `mode` holds further
// settings of `flow_control`.
std::string infinitely_fast(const std::string& reads = "", const std::string& mode = "") {
  return "{level: full, kubelet: {sandbox: 0s, container: 0s}, "
         "etcd: {commit_latency: 0s}, "
         "clients: {controller_manager: {qps: 1e9, burst: 1000000}, "
         "scheduler: {qps: 1e9, burst: 1000000}, "
         "kubelet: {qps: 1e9, burst: 1000000}}, "
         "api_servers: {flow_control: {" +
         mode +
         "max_requests_inflight: 100000, max_mutating_requests_inflight: 100000}, "
         "server: {egress: 0Gbps, cost: {write: 0s, sent_byte: 0" +
         reads + "}}}}";
}

template <class Row>
void expect_within_a_millisecond(const Row& full, const Row& none) {
  const auto expect = [](Time a, Time b) { EXPECT_LE(std::max(a, b) - std::min(a, b), 1_ms); };
  expect(full.created, none.created);
  expect(full.bound, none.bound);
  expect(full.running, none.running);
  expect(full.ended, none.ended);
}

// A control plane with `level: full`. Besides the job it has random load: services, Events and
// readers of Events, crash loops, namespaces, limits on image pulls. Each of these may be absent.
std::string loaded(Rng& rng, bool has_image) {
  std::string yaml = "{level: full";
  if (rng.chance(0.5)) {
    yaml += ", services: {groups: [{name: n, members: nodes, count: " + number(1 + rng.below(3)) +
            "}, {name: p, members: pods}, {name: j, members: jobs}], watchers: {daemons: " +
            number(rng.below(3)) + "}}";
  }
  if (rng.chance(0.5)) {
    yaml += ", events: {others_per_s: " + number(rng.below(100)) +
            ", readers: [{every: 5s, from: " + (rng.chance(0.5) ? "etcd" : "cache") + "}]}";
  }
  if (rng.chance(0.3)) yaml += ", crash_loops: [{nodes: 4, pods_per_node: 20}]";
  if (rng.chance(0.3)) yaml += ", namespaces: {existing: 500, per_job: true}";
  if (has_image && rng.chance(0.5))
    yaml += ", image_pulls: {parallel: " + number(rng.below(3)) + "}";
  return yaml + "}";
}

// One exception: a job with several gangs may start earlier at level full than at level delays.
// Level full may create pods later, so gangs are scheduled in another order, and the gang bound
// last may have pods that start faster. Without images, the job starts earlier by at most the
// scheduler's time for all attempts. With images, the first pod on a node also pulls the image for
// the other pods, and the job starts earlier by at most its `bound - created` at level delays. Even
// then its last pod is bound no earlier, unless the job is elastic.
TEST(ControlPlane, NeverLetsAJobStartEarlierThanACheaperLevelDoes) {
  for (uint64_t seed = 0; seed < (kIsSanitized ? 20 : 400); ++seed) {
    SCOPED_TRACE("seed " + number(seed));
    RandomJob job;
    AloneRow rows[4];
    Rng load{seed + 1'000};
    const std::string levels[] = {"{level: none}", infinitely_fast(), "{level: delays}",
                                  seed % 4 < 2 ? "{level: full}" : loaded(load, seed % 2 == 1)};
    for (size_t i = 0; i < 4; ++i) {
      Rng rng{seed};
      const bool has_image = i >= 2 && seed % 2 == 1;
      job = random_job(rng, levels[i], has_image);
      rows[i] = only_job(job.yaml);
      EXPECT_EQ(rows[i].outcome, JobOutcome::Completed);
    }
    expect_within_a_millisecond(rows[1], rows[0]);
    EXPECT_GT(rows[2].running, rows[0].running);
    if (!job.is_elastic) {
      EXPECT_GE(rows[3].bound, rows[2].bound);
    }
    const Duration turns = job.gangs == 1  ? Duration{}
                           : seed % 2 == 1 ? rows[2].bound - rows[2].created
                                           : rows[2].scheduling;
    EXPECT_GE(rows[3].running + turns, rows[2].running);
  }
}

TEST(ControlPlane, ThatIsInfinitelyFastTurnsAwayNoneOfHundredsOfPods) {
  for (uint64_t seed = 0; seed < (kIsSanitized ? 3 : 24); ++seed) {
    SCOPED_TRACE("seed " + number(seed));
    JobRow rows[2];
    const std::string mode = seed % 2 == 1 ? "mode: max_inflight, " : "";
    const std::string levels[] = {"{level: none}", infinitely_fast("", mode)};
    for (size_t i = 0; i < 2; ++i) {
      Rng rng{seed};
      rows[i] = only_job(job_of_hundreds(rng, levels[i]));
      EXPECT_EQ(rows[i].outcome, JobOutcome::Completed);
    }
    expect_within_a_millisecond(rows[1], rows[0]);
  }
}

// Longer than any scheduling cycle that tries one member: the cluster of scaled_job() has at most
// 19 nodes, and such a cycle places at most one pod.
constexpr Duration kTried =
    SchedulerCost{}.per_cycle + SchedulerCost{}.per_node * 20 + SchedulerCost{}.per_pod;

// Koordinator retries the members of a gang in turn until their nodes exist. The member that it
// tries when the last node arrives depends on when the pods were created. So a job may start
// earlier with `full` than with `delays`: by at most the time of trying each member once.
TEST(ControlPlane, NeverLetsAJobStartEarlierThanACheaperLevelDoesOnNodesThatComeForIt) {
  for (const std::string base :
       {"default", "strict_gang", "native_gang", "coscheduling", "koordinator"}) {
    const bool tries_on = base == "koordinator";
    for (uint64_t seed = 0; seed < (kIsSanitized ? 1 : tries_on ? 3 : 15); ++seed) {
      SCOPED_TRACE(base + ", seed " + number(seed));
      JobRow rows[2];
      for (size_t i = 0; i < 2; ++i) {
        Rng rng{seed};
        rows[i] = only_job(scaled_job(rng, base, i == 0 ? "delays" : "full"));
        EXPECT_EQ(rows[i].outcome, JobOutcome::Completed);
      }
      const Duration round = tries_on ? kTried * rows[0].pods : Duration{};
      EXPECT_GE(rows[1].running + round, rows[0].running);
    }
  }
}

// Every job detects a dead node after 5 s, before the node is back and reports to the API.
TEST(ControlPlane, ThatIsInfinitelyFastChangesNothingForJobsThatNoticeFailuresThemselves) {
  for (uint64_t seed = 0; seed < (kIsSanitized ? 10 : 100); ++seed) {
    SCOPED_TRACE("seed " + number(seed));
    JobRow rows[2];
    const std::string levels[] = {"{level: none}",
                                  infinitely_fast(", read: 0s, watch: 0s, cached_object: 0")};
    for (size_t i = 0; i < 2; ++i) {
      Rng rng{seed};
      std::string yaml = random_job(rng, levels[i], false).yaml;
      yaml.replace(yaml.find("controller: {"), 13, "controller: {failure_detection: 5s, ");
      yaml += "faults: {list: [{node: '" + number(rng.below(4)) +
              "', at: " + number(rng.below(300)) + "s, repair: " + number(6 + rng.below(100)) +
              "s}, {node: '" + number(rng.below(4)) + "', at: " + number(rng.below(300)) +
              "s, repair: 6s}]}\n";
      rows[i] = only_job(yaml);
      EXPECT_EQ(rows[i].outcome, JobOutcome::Completed);
    }
    EXPECT_EQ(rows[1].restarts, rows[0].restarts);
    expect_within_a_millisecond(rows[1], rows[0]);
  }
}

}  // namespace
}  // namespace orrery
