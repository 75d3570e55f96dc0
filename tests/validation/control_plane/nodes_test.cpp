#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "models/control_plane/clients/pod_clients_params.hpp"
#include "models/control_plane/etcd/etcd_split.hpp"
#include "models/control_plane/kubelet/crash_loop.hpp"
#include "models/control_plane/kubelet/image_pulls.hpp"
#include "models/control_plane/kubelet/kubelet.hpp"
#include "models/control_plane/load/thresholds.hpp"
#include "models/control_plane/nodes/node_lifecycle.hpp"
#include "models/faults/node_killer.hpp"
#include "models/scheduling/toolbox/unready_guard.hpp"
#include "models/workload/job/job_rows.hpp"
#include "models/workload/job/pod_row.hpp"
#include "models/workload/job/recovery_row.hpp"
#include "tests/support/scheduler_world.hpp"
#include "tests/support/validation_cases.hpp"

namespace orrery {
namespace {

using nlohmann::json;

// The shortest and the longest time, in whole seconds, from a node's last heartbeat until the node
// is NotReady or, with `until_deleted`, until its pods are evicted. The time of the last heartbeat
// varies in steps of 10 ms over the 5 s between two checks.
std::string window(bool until_deleted) {
  Duration least = Duration::max(), most{};
  for (int64_t i = 0; i <= 500; ++i) {
    Engine engine;
    const std::vector<uint32_t> zones(100, 0);
    NodeLifecycle lifecycle{engine, {}, zones};
    const Time silent = Time{} + 100_s + 10_ms * i;
    Duration after{};
    auto& news = until_deleted ? lifecycle.evicted : lifecycle.became_not_ready;
    news.connect([&](NodeId) { after = engine.now() - silent; });
    engine.at(silent, Label{"test.silent"}, [&] { lifecycle.node_silent({7}, engine.now()); });
    engine.run();
    least = std::min(least, after);
    most = std::max(most, after);
  }
  // `silent` varies in steps of 10 ms, so `least` is 10 ms above the open lower end of the
  // interval.
  return "(" + std::to_string((least - 10_ms) / 1_s) + ", " + std::to_string(most / 1_s) + "]";
}

int64_t evictions(const json& input) {
  Engine engine;
  const auto nodes = input.at("nodes").get<uint32_t>();
  const std::vector<uint32_t> zones(nodes, 0);
  NodeLifecycle lifecycle{engine, {}, zones};
  const Time from = Time{} + 1_h;
  engine.at(from, Label{"test.outage_began"}, [&] {
    for (uint32_t n = 0; n < nodes; ++n)
      lifecycle.node_silent({n}, last_heartbeat({n}, engine.now(), {}));
  });
  engine.at(from + 1_min * input.at("outage_min").get<int64_t>(), Label{"test.outage_ended"}, [&] {
    for (uint32_t n = 0; n < nodes; ++n) lifecycle.node_alive({n});
  });
  engine.run();
  EXPECT_EQ(lifecycle.counters().not_ready, nodes);
  EXPECT_EQ(lifecycle.not_ready(), 0U);
  return static_cast<int64_t>(lifecycle.counters().evicted);
}

json of_killer(const json& input, const std::string& quantity) {
  Engine engine;
  NodeKiller killer{engine, {}, 7'500, Rng{1}};
  std::vector<int64_t> sizes;
  std::vector<Time> begins;
  int64_t down = 0, down_max = 0;
  killer.killed.connect([&](NodeId) {
    if (down++ == 0) {
      sizes.push_back(0);
      begins.push_back(engine.now());
    }
    ++sizes.back();
    down_max = std::max(down_max, down);
  });
  killer.revived.connect([&](NodeId) { --down; });
  killer.start();
  const auto count = input.at("count").get<size_t>();
  while (sizes.size() < count || down > 0) {
    if (!engine.step()) break;
  }
  if (quantity == "down_max") return down_max;
  if (quantity == "cycle_min") {
    return (begins.back() - begins.front()).seconds() / 60 / static_cast<double>(count - 1);
  }
  std::string text;
  for (const int64_t size : sizes) text += (text.empty() ? "" : " ") + std::to_string(size);
  return text;
}

// Writes Event objects to etcd for 4 h. Returns whether space is left, whether etcd still accepts
// Leases and, if etcd is full, how many nodes become NotReady and from how many nodes pods are
// evicted.
std::string outage(const json& input) {
  Engine engine;
  const auto nodes = input.at("nodes").get<uint32_t>();
  EtcdSplit etcd{engine,
                 {.quota = 1_GiB * input.at("quota_gib").get<int64_t>(),
                  .separate_events = input.value("separate_events", false)}};
  const std::vector<uint32_t> zones(nodes, 0);
  NodeLifecycle lifecycle{engine, {}, zones};
  std::vector<Time> not_ready;
  lifecycle.became_not_ready.connect([&](NodeId) { not_ready.push_back(engine.now()); });
  Time full = Time::max();
  etcd.objects().news.connect([&](EtcdNews, uint32_t) {
    full = engine.now();
    for (uint32_t n = 0; n < nodes; ++n) lifecycle.node_silent({n}, last_heartbeat({n}, full, {}));
  });
  etcd.events().set_steady_load(
      {.stored = {.event_bytes_per_s = input.at("event_bytes_per_s").get<double>()}});
  engine.at(Time{} + 4_h, Label{"test.ended"}, [] {});
  engine.run(Time{} + 4_h);
  const bool is_written =
      etcd.objects().propose({.bytes = {300}}, [](bool) {}) == EtcdAnswer::Accepted;
  if (full == Time::max()) return is_written ? "space left, leases written" : "leases refused";
  std::string text = is_written ? "no space, leases written" : "no space, leases refused";
  const bool in_time = std::ranges::all_of(not_ready, [&](Time t) {
    // The grace is 40 s, the last Lease is up to 10 s old, and checks are 5 s apart.
    return t - full > 30_s && t - full <= 45_s;
  });
  text +=
      ", " + std::to_string(lifecycle.not_ready()) + " of " + std::to_string(nodes) + " not ready";
  if (in_time) text += " 30 s to 45 s later";
  return text + ", " + std::to_string(lifecycle.counters().evicted) + " evicted";
}

// Restart times of a container if each of its runs lasts `runs`.
std::vector<Time> restarts(Duration runs, Time until, const CrashLoopParams& params) {
  CrashLoop loop{params};
  std::vector<Time> times;
  for (Time now = Time{} + runs; now <= until; now = now + runs) {
    now = now + loop.next(runs);
    if (now <= until) times.push_back(now);
  }
  return times;
}

json of_crash_loop(const json& input, const std::string& quantity) {
  if (quantity == "writes_in_10_s") {
    const Duration period = nearest_ns(input.at("period_s").get<double>());
    return 10 * crash_loop_writes_per_s(input.at("pods"), period, {});
  }
  if (quantity == "excess_restarts") {
    const Time until = Time{} + nearest_ns(input.at("within_s").get<double>());
    const CrashLoopParams quick{.initial = nearest_ns(input.at("initial_s").get<double>()),
                                .most = nearest_ns(input.at("most_s").get<double>())};
    return restarts({}, until, quick).size() - restarts({}, until, {}).size();
  }
  const Duration runs = nearest_ns(input.at("runs_s").get<double>());
  if (quantity == "restarts_within") {
    return restarts(runs, Time{} + nearest_ns(input.at("within_s").get<double>()), {}).size();
  }
  std::vector<Time> times = restarts(runs, Time{} + 1_d, {});
  times.resize(input.at("count").get<size_t>());
  std::string text;
  for (const Time t : times) {
    text += (text.empty() ? "" : " ") + std::to_string((t - Time{}) / 1_s);
  }
  return text;
}

// All images of the case are requested for one node at time 0. Returns the minutes until each image
// is present.
std::vector<double> pulls(const json& input) {
  Engine engine;
  ImagePulls images{engine, {.parallel = input.at("parallel")}, 1};
  std::vector<double> minutes(input.at("images_gb").size());
  for (size_t i = 0; i < minutes.size(); ++i) {
    const auto size = std::llround(input.at("images_gb")[i].get<double>() * 1e9);
    images.ensure({0}, images.add_image({size}),
                  [&, i] { minutes[i] = engine.now().seconds() / 60; });
  }
  engine.run();
  return minutes;
}

double pods_per_s(const json& input) { return input.at("per_day").get<double>() / 86'400; }

// Seconds until a controller without other work has created the last pod.
double rollout_s(const json& input) {
  ScenarioRun run{
      "cluster: {pools: [{name: n, machine: dgx-a100, count: 100}]}\n"
      "control_plane: {level: full}\nrun: {until: 10min}\n"
      "workload: {sources: [{kind: jobs, jobs: [{kind: pods, controller: replica_set, pods: " +
      std::to_string(input.at("pods").get<int64_t>()) + ", pod: {gpus: 1}, work: 1min}]}]}\n"};
  Time last;
  for (const PodRow& row : run.recorder.rows<PodRow>("/pods")) last = std::max(last, row.created);
  return last.seconds();
}

std::string breaks_first(const json& input) {
  const double pods = pods_per_s(input);
  if (pods > input.at("scheduled_per_s").get<double>()) return "scheduler";
  if (pods > PodClientsParams{}.controller_manager.qps) return "controllers";
  ClusterSize size;
  size[Quantity::Services] = input.at("services");
  return beyond_thresholds(size).empty() ? "nothing" : "services";
}

json ours_in_nodes(const json& input) {
  const auto quantity = input.at("quantity").get<std::string>();
  if (quantity == "not_ready_window_s") return window(false);
  if (quantity == "deleted_window_s") return window(true);
  if (quantity == "evictions") return evictions(input);
  if (quantity == "outage") return outage(input);
  if (quantity == "status_mb_per_min") {
    const HeartbeatParams params{.status_period = nearest_ns(input.at("period_s").get<double>()),
                                 .status_bytes = Bytes{1'000} * input.at("kb").get<int64_t>()};
    const HeartbeatLoad load = heartbeat_load(input.at("nodes"), params);
    return load.statuses_per_s * 60 * static_cast<double>(params.status_bytes.count) / 1e6;
  }
  if (quantity == "pull_min") return pulls(input).at(input.at("which").get<size_t>());
  if (quantity == "small_beside") {
    return pulls(input).at(1) <= 10.0 / 60 ? "within 10 s" : "later";
  }
  if (quantity == "unready_deletions") {
    const auto unready = input.at("unready").get<int64_t>();
    return may_delete_unready(unready, input.at("nodes"), {}) ? unready : 0;
  }
  if (quantity == "pods_per_s") return pods_per_s(input);
  if (quantity == "breaks_first") return breaks_first(input);
  if (quantity == "rollout_s") return rollout_s(input);
  if (quantity == "rounds" || quantity == "down_max" || quantity == "cycle_min") {
    return of_killer(input, quantity);
  }
  return of_crash_loop(input, quantity);
}

TEST(ControlPlaneValidation, NodesAndKubeletsAreAsPublished) {
  test::check_cases("control_plane_nodes.json", 24, ours_in_nodes);
}

}  // namespace
}  // namespace orrery
