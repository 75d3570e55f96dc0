#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <variant>
#include <vector>

#include "models/control_plane/autoscaling/node_group_rows.hpp"
#include "models/control_plane/autoscaling/service_scaling_rows.hpp"
#include "models/control_plane/control_plane_rows.hpp"
#include "models/control_plane/nodes/node_rows.hpp"
#include "models/scheduling/framework/feasible_nodes_to_find.hpp"
#include "models/scheduling/queue/scheduling_queue.hpp"
#include "models/scheduling/toolbox/scoring.hpp"
#include "models/workload/job/job_rows.hpp"
#include "models/workload/job/pod_row.hpp"
#include "models/workload/job/recovery_row.hpp"
#include "tests/support/scheduler_world.hpp"
#include "tests/support/validation_cases.hpp"

namespace orrery {
namespace {

using nlohmann::json;

ScenarioRun run_of(const std::string& yaml) {
  return ScenarioRun{yaml, {}, {.audit_every = 100'000}};
}

double summary(const ScenarioRun& run, std::string_view name) {
  const auto found = std::ranges::find(run.result.summary, name, &SummaryValue::name);
  if (found == run.result.summary.end()) return std::numeric_limits<double>::quiet_NaN();
  return std::visit([](auto value) { return static_cast<double>(value); }, found->value);
}

std::string pool(const std::string& name, int64_t nodes) {
  return "    - {name: " + name + ", machine: dgx-a100, count: " + std::to_string(nodes) + "}\n";
}

std::string jobs(const std::vector<std::string>& listed) {
  std::string text = "workload:\n  sources:\n    - kind: jobs\n      jobs:\n";
  for (const std::string& job : listed) text += "        - {kind: pods, " + job + "}\n";
  return text;
}

std::string autoscaler(const std::string& args) {
  return "policy: {controllers: [{name: ClusterAutoscaler, args: {" + args + "}}]}\n";
}

// Measures how long a pod waits until the autoscaler requests a new node for it. The pods arrive
// slightly more than a minute apart, so they cover the phases of the autoscaler's loop evenly.
json scale_up_wait(const json& input) {
  const auto nodes = input.at("nodes").get<int64_t>(), pods = input.at("pods").get<int64_t>();
  std::vector<std::string> listed;
  if (nodes > 0) listed.push_back("pods: " + std::to_string(nodes) + ", pod: {gpus: 8}, work: 10d");
  for (int64_t i = 0; i < pods; ++i) {
    const int64_t at_ms = 600'000 + 60'000 * i + (10'000 * i + 5'000) / pods;
    listed.push_back("pods: 1, pod: {gpus: 8}, work: 10d, submit: " + std::to_string(at_ms) + "ms");
  }
  ScenarioRun run = run_of(
      "cluster:\n  pools:\n" + (nodes > 0 ? pool("old", nodes) : "") + pool("new", pods + 1) +
      "control_plane: {level: delays, autoscaler: {groups: [{pool: new}]}}\n" +
      autoscaler("time_per_node: " + input.at("time_per_node_ms").dump() + "ms") + jobs(listed) +
      "run: {until: " + std::to_string(pods + 20) + "min}\n");
  double sum = 0, most = 0, count = 0;
  for (const ScalingRow& row : run.recorder.rows<ScalingRow>("/events/scaling")) {
    EXPECT_EQ(row.pods, 1U);
    sum += row.waited_mean.seconds();
    most = std::max(most, row.waited_max.seconds());
    ++count;
  }
  EXPECT_EQ(count, static_cast<double>(pods));
  const auto of = input.at("of").get<std::string>();
  if (of == "mean") return sum / count;
  if (of == "max") return most;
  const auto bound = input.at("bound_s").get<int64_t>();
  return most <= static_cast<double>(bound) ? "within " + std::to_string(bound) + " s" : "later";
}

// Returns the numbers of ready nodes and of bound pods at the end. A node has room for 30 pods.
std::string fill() {
  ScenarioRun run = run_of(
      "cluster:\n  pools:\n" + pool("all", 1'200) +
      "control_plane:\n  level: full\n  autoscaler:\n    groups: [{pool: all, nodes_at_start: 1}]\n"
      "  clients: {controller_manager: {qps: 1000, burst: 30000}}\n" +
      jobs({"pods: 30000, pod: {cpus: 8.5}, work: 10d"}) + "run: {until: 2h}\n");
  const auto samples = run.recorder.rows<NodesSample>("/timeline/nodes");
  return std::to_string(samples.back().ready) + " nodes, " +
         std::to_string(std::llround(summary(run, "pods_scheduled"))) + " pods run";
}

json scale_down(const std::string& of) {
  ScenarioRun run = run_of("cluster:\n  pools:\n" + pool("all", 1'000) +
                           "control_plane: {level: delays, autoscaler: {groups: [{pool: all, "
                           "nodes_at_start: 1000}]}}\n" +
                           jobs({"pods: 700, pod: {gpus: 8}, work: 10d"}) + "run: {until: 3h}\n");
  uint32_t most = 0, sum = 0;
  Time first = Time::max();
  for (const ScalingRow& row : run.recorder.rows<ScalingRow>("/events/scaling")) {
    EXPECT_EQ(row.kind, ScalingKind::Down);
    most = std::max(most, row.nodes);
    sum += row.nodes;
    first = std::min(first, row.time);
  }
  if (of == "removed") return sum;
  if (of == "batch_max") return most;
  return first >= Time{} + 10_min ? "not before 10 min" : "earlier";
}

// How many of 100 nodes are removed if a share of them fails for the rest of the run.
std::string halt(double share) {
  std::string list;
  for (int64_t n = 0; n < std::llround(100 * share); ++n) {
    list += "    - {node: all-" + std::to_string(n) + ", at: 10min, repair: 10d}\n";
  }
  ScenarioRun run = run_of(
      "cluster:\n  pools:\n" + pool("all", 100) +
      "control_plane:\n  level: delays\n  autoscaler:\n    groups: [{pool: all, nodes_at_start: "
      "100}]\nfaults:\n  list:\n" +
      list + autoscaler("scale_down: {unneeded_time: 10d}") +
      jobs({"pods: 1, pod: {gpus: 8}, work: 10d"}) + "run: {until: 2h}\n");
  return std::to_string(std::llround(summary(run, "nodes_taken_away"))) + " taken away";
}

// A full etcd rejects Leases. Counts the nodes that become NotReady, and the nodes removed.
std::string outage_scenario(const json& input) {
  const ScenarioRun run = run_of(
      "cluster:\n  pools:\n" + pool("all", 200) +
      "control_plane:\n  level: full\n  etcd: {quota: 20MiB}\n  events: {others_per_s: 100}\n"
      "  autoscaler:\n    groups: [{pool: all, nodes_at_start: 200}]\n" +
      autoscaler("unready_guard: {share_max: " + input.at("share_max").dump() +
                 "}, scale_down: {unneeded_time: 10d}") +
      jobs({"pods: 1, pod: {gpus: 8}, work: 10d, submit: 4h"}) + "run: {until: 4h}\n");
  return std::to_string(std::llround(summary(run, "nodes_not_ready"))) + " not ready, " +
         std::to_string(std::llround(summary(run, "nodes_taken_away"))) + " taken away";
}

std::vector<Time> bindings(const json& input) {
  ScenarioRun run =
      run_of("cluster:\n  pools:\n" + pool("all", input.at("pods").get<int64_t>()) +
             "control_plane:\n  level: full\n  clients: {controller_manager: {qps: 1e6, burst: "
             "1000000}}\n" +
             jobs({"pods: " + input.at("pods").dump() + ", pod: {gpus: 8}, work: 1s"}) +
             "record: {pods: true}\nrun: {until: 1h}\n");
  std::vector<Time> times;
  for (const PodRow& row : run.recorder.rows<PodRow>("/pods")) times.push_back(row.bound);
  std::ranges::sort(times);
  return times;
}

double bind_all_min(const json& input) {
  const ScenarioRun run = run_of(
      "cluster:\n  pools:\n" + pool("all", 5'000) +
      "control_plane:\n  level: full\n  etcd: {quota: 64GiB}\n  clients:\n    controller_manager: "
      "{qps: 200, burst: 200}\n    scheduler: {qps: " +
      input.at("per_s").dump() + ", burst: 100}\n" +
      jobs({"pods: " + input.at("pods").dump() + ", pod: {cpus: 2}, work: 1ms"}));
  EXPECT_EQ(summary(run, "pods_scheduled"), input.at("pods").get<double>());
  return summary(run, "jct_mean") / 60;
}

// Tells whether latencies of pods or requests are within a bound. The controller creates 10 pods a
// second. Each pod stays for 15,000 s, so 150,000 pods run at a time, 30 on each of the 5,000
// nodes. Ten clients list all Events once a minute.
std::string load(const json& input) {
  static ScenarioRun run =  // one run for all figures
      run_of("cluster:\n  pools:\n" + pool("all", 5'000) +
             "control_plane: {level: full, clients: {controller_manager: {qps: 10, burst: 1}}, " +
             "events: {readers: [{clients: 10, every: 1min}]}}\n" +
             jobs({"pods: 180000, pod: {cpus: 8}, work: 15000s"}) +
             "record: {pods: true}\nrun: {until: 5h}\n");
  std::vector<double> values{summary(run, "api_latency_p99")};
  if (input.at("of") == "pods") {
    values.clear();
    for (const PodRow& row : run.recorder.rows<PodRow>("/pods")) {
      if (row.started >= Time{}) values.push_back((row.started - row.created).seconds());
    }
    EXPECT_GT(values.size(), 170'000U);
    std::ranges::sort(values);
    values.resize(values.size() * 99 / 100 + 1);
  }
  if (input.at("of") == "lists") {
    values.clear();
    for (const auto& row : run.recorder.rows<ControlPlaneSample>("/timeline/control_plane")) {
      if (row.verb == Verb::List && row.done > 0) values.push_back(row.p99.seconds());
    }
    EXPECT_GT(values.size(), 100U);
    std::ranges::sort(values);
  }
  const auto bound = input.at("bound_s").get<int64_t>();
  return values.back() <= static_cast<double>(bound) ? "within " + std::to_string(bound) + " s"
                                                     : std::to_string(values.back()) + " s";
}

// Ten replicas are half busy, and their load doubles at 20 min. Returns the mean seconds until
// their use is below 56 %: the autoscaler rounds the use down to whole percent, and tolerates 55 %.
// If `of` is "autoscaler", returns whether the number of replicas changes within 2 min on average.
json follow_load(const json& input) {
  const Time step = Time{} + 20_min;
  const auto seeds = input.at("seeds").get<int>();
  double sum_s = 0;
  for (int seed = 1; seed <= seeds; ++seed) {
    ScenarioRun run =
        run_of("cluster:\n  pools:\n" + pool("old", 10) + pool("new", 20) +
               "control_plane: {level: full, autoscaler: {groups: [{pool: new}]}}\n"
               "workload:\n  sources:\n    - kind: service\n      name: web\n      replicas: 10\n"
               "      pod: {gpus: 8}\n      load: [{at: 0s, load: 5}, {at: 20min, load: 10}]\n"
               "      autoscaler: {replicas_max: 40, target: 50, sync_period: 30s, "
               "metrics_resolution: 1min, scrape_interval: 10s}\n"
               "record: {timeline: {interval: 1s}}\nrun: {until: 40min, seed: " +
               std::to_string(seed) + "}\n");
    Time end = Time::max();
    if (input.at("of") == "autoscaler") {
      end = run.recorder.rows<ServiceScalingRow>("/events/service_scaling").at(0).time;
    } else {
      for (const auto& row : run.recorder.rows<ServiceLoadSample>("/timeline/service_load")) {
        if (row.time > step && row.use < 0.56) end = std::min(end, row.time);
      }
    }
    EXPECT_NE(end, Time::max());
    sum_s += (end - step).seconds();
  }
  if (input.at("of") == "autoscaler") {
    return sum_s / seeds < 120 ? "closer to 1 min than to 3" : "later";
  }
  return sum_s / seeds;
}

// Pods of the second job that are scheduled per second. `of` is basic, affinity or anti_affinity.
double scheduled_per_s(const std::string& of) {
  const std::string labels = "labels: {color: green}, ";
  const std::string term = ": [{match_labels: {color: green}, topology_key: ";
  const std::string pod = of == "basic"      ? "cpus: 1"
                          : of == "affinity" ? "cpus: 1, " + labels + "affinity" + term + "leaf}]"
                                             : labels + "anti_affinity" + term + "hostname}]";
  const int64_t before = of == "affinity" ? 5'000 : 1'000;
  const int64_t pods = of == "basic" ? 10'000 : of == "affinity" ? 5'000 : 2'000;
  ScenarioRun run = run_of(
      "cluster: {pools: [{name: all, machine: dgx-a100, count: 5000, nodes_per_leaf: "
      "5000}]}\npolicy: {plugins: [{name: InterPodAffinity}]}\n" +
      jobs({"pods: " + std::to_string(before) + ", work: 10d, pod: {" + pod + "}",
            "submit: 1h, pods: " + std::to_string(pods) + ", work: 10d, pod: {" + pod + "}"}) +
      "run: {until: 3h}\n");
  Time last;
  for (const PodRow& row : run.recorder.rows<PodRow>("/pods")) last = std::max(last, row.bound);
  EXPECT_EQ(summary(run, "pods_scheduled"), static_cast<double>(before + pods));
  return static_cast<double>(pods) / (last - Time{} - 1_h).seconds();
}

// The exponent b, if the scheduler time for n nodes grows as n^b. Each node gets one pod.
double fill_exponent(const json& input) {
  double seconds[2] = {};
  for (int i = 0; i < 2; ++i) {
    const int64_t count = input.at("nodes").get<int64_t>() << i;
    const std::string nodes = std::to_string(count);
    const ScenarioRun run =
        run_of("cluster: {pools: [{name: all, machine: dgx-a100, count: " + nodes +
               "}]}\npolicy: {plugins: [{name: InterPodAffinity, args: {algorithm: " +
               input.at("algorithm").get<std::string>() + "}}]}\n" +
               jobs({"controller: replica_set, pods: " + nodes +
                     ", work: 10d, pod: {labels: {app: balloon}, anti_affinity: [{topology_key: "
                     "hostname, match_labels: {app: balloon}}]}"}) +
               "run: {until: 1d}\n");
    EXPECT_EQ(summary(run, "pods_scheduled"), static_cast<double>(count));
    seconds[i] = summary(run, "scheduler_busy");
  }
  return std::log2(seconds[1] / seconds[0]);
}

// The preemption tests of scheduler_perf. On each node four pods of low priority leave a tenth of
// the CPU free. A pod of high priority needs the CPU of three of these pods. Deleted pods are not
// recreated, because the controller manager has used up its burst. Case SCH-8.deletions_ms
// calibrates etcd's commit latency. `more` are jobs that arrive at 1 h.
ScenarioRun preemption_run(const json& input, const std::string& more) {
  const auto nodes = input.at("nodes").get<int64_t>();
  return run_of(
      "cluster:\n  pools:\n" + pool("all", nodes) +
      "policy: {queue: {pop_from_backoff: " + input.value("pop_from_backoff", std::string{"true"}) +
      "}, plugins: [{name: DefaultPreemption, args: " + input.at("args").get<std::string>() +
      "}]}\ncontrol_plane: {level: full, etcd: {quota: 64GiB, commit_latency: 5.2ms}, "
      "clients: {controller_manager: {qps: 0.001, burst: " +
      std::to_string(4 * nodes) + "}, scheduler: {qps: 5000, burst: 5000}}}\n" +
      jobs({"controller: replica_set, work: 10d, pod: {cpus: 57.6}, pods: " +
                std::to_string(4 * nodes),
            more}) +
      "  controller: {termination: " + input.value("termination", std::string{"0s"}) +
      "}\nrecord: {pods: true}\nrun: {until: " + input.value("until", std::string{"90min"}) +
      "}\n");
}

// Seconds from the job's submission (at 1 h) to the binding of each bound pod; sorted.
std::vector<double> bound_after_s(ScenarioRun& run, uint64_t job) {
  std::vector<double> times;
  for (const PodRow& row : run.recorder.rows<PodRow>("/pods")) {
    if (row.job == job && row.bound >= Time{})
      times.push_back((row.bound - Time{} - 1_h).seconds());
  }
  std::ranges::sort(times);
  return times;
}

json preempting(const json& input) {
  const auto pods = input.at("pods").get<int64_t>();
  ScenarioRun run = preemption_run(input,
                                   "submit: 1h, work: 10d, priority: 10, pod: {cpus: 192}, "
                                   "pods: " +
                                       std::to_string(pods));
  const std::vector<double> times = bound_after_s(run, 1);
  const auto of = input.at("of").get<std::string>();
  const auto bound = static_cast<double>(times.size());
  if (of == "finished") {
    const auto in_time = std::ranges::count_if(times, [](double s) { return s <= 1'800; });
    return in_time == pods ? "within 30 min" : "not within 30 min";
  }
  EXPECT_EQ(times.size(), static_cast<size_t>(pods));
  EXPECT_EQ(summary(run, "pods_preempted"), 3 * bound);
  if (of == "per_s") return bound / times.back();
  return std::accumulate(times.begin(), times.end(), 0.0) / bound;
}

// Whether pods that fit are bound at the published rate while 5 preempting pods arrive per second.
std::string beside_preemption(const json& input) {
  ScenarioRun run = preemption_run(
      input,
      "submit: 1h, work: 10d, pod: {cpus: 6.4}, pods: 5000}\n        - {kind: pods, submit: 1h, "
      "count: 300, every: 200ms, work: 10d, priority: 10, pod: {cpus: 192}");
  uint64_t measured = 0;
  for (const JobRow& row : run.jobs()) {
    if (row.pods == 5'000) measured = row.job;
  }
  const std::vector<double> times = bound_after_s(run, measured);
  EXPECT_EQ(times.size(), 5'000U);
  EXPECT_EQ(summary(run, "pods_preempted"), 900);
  const double per_s = static_cast<double>(times.size()) / times.back();
  const auto bound = input.at("bound_per_s").get<int64_t>();
  return per_s >= static_cast<double>(bound) ? "at least " + std::to_string(bound) + " pods/s"
                                             : std::to_string(per_s) + " pods/s";
}

// Mean scheduler time, in ms, of a pod that preempts. `args` are parameters of the plug-in.
double busy_ms(const json& input, const std::string& args) {
  json one = input;
  one["args"] = args;
  ScenarioRun run = preemption_run(one,
                                   "submit: 1h, work: 10d, priority: 10, pod: {cpus: 192}, "
                                   "pods: " +
                                       input.at("pods").dump());
  return summary(run, "scheduler_busy") / input.at("pods").get<double>() * 1e3;
}

json ours_in_runs(const json& input) {
  const auto quantity = input.at("quantity").get<std::string>();
  if (quantity == "scale_up_wait") return scale_up_wait(input);
  if (quantity == "fill") return fill();
  if (quantity == "scale_down") return scale_down(input.at("of"));
  if (quantity == "halt") return halt(input.at("share"));
  if (quantity == "outage") return outage_scenario(input);
  if (quantity == "bind_all_min") return bind_all_min(input);
  if (quantity == "load") return load(input);
  if (quantity == "follow_load") return follow_load(input);
  if (quantity == "fill_exponent") return fill_exponent(input);
  if (quantity == "preempting") return preempting(input);
  if (quantity == "beside_preemption") return beside_preemption(input);
  if (quantity == "evaluation_saved") {
    return busy_ms(input, "{minCandidateNodesPercentage: 100}") -
           busy_ms(input, "{minCandidateNodesPercentage: 10}");
  }
  if (quantity == "deletion_ms") {
    return busy_ms(input, "{async: false}") - busy_ms(input, "{async: true}");
  }
  if (quantity == "scheduled_ratio") {
    return scheduled_per_s(input.at("of")) / scheduled_per_s(input.at("to"));
  }
  if (quantity.starts_with("bind_")) {
    const std::vector<Time> times = bindings(input);
    if (quantity == "bind_burst") {
      return std::ranges::count_if(times, [&](Time t) { return t - times.front() <= 200_ms; });
    }
    return static_cast<double>(times.size() - 200) / (times.back() - times[199]).seconds();
  }
  std::string text;
  const auto add = [&](int64_t n) { text += (text.empty() ? "" : " ") + std::to_string(n); };
  if (quantity == "scored_nodes") {
    for (const int64_t nodes : input.at("nodes")) add(feasible_nodes_to_find(nodes, 0));
  } else {
    for (int32_t n = 1; n <= input.at("attempts"); ++n) add(SchedulingQueue::backoff({}, n) / 1_s);
  }
  return text;
}

TEST(ControlPlaneValidation, WholeRunsAreAsPublished) {
  test::check_cases("control_plane_runs.json", 26, ours_in_runs);
}

}  // namespace
}  // namespace orrery
