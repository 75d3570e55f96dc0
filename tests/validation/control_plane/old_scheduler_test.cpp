// The speed of kube-scheduler of 2019.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "models/workload/job/pod_row.hpp"
#include "tests/support/scheduler_world.hpp"
#include "tests/support/validation_cases.hpp"

namespace orrery {
namespace {

using nlohmann::json;

// Mean milliseconds per measured pod: the time from 1 h until the last measured pod is bound,
// divided by the number of measured pods. As in scheduler_perf, pods with anti-affinity avoid nodes
// with another such pod. If there are more pods than nodes, the existing pods have neither the
// label nor the anti-affinity.
double ms_per_pod_2019(const json& input) {
  const auto nodes = input.at("nodes").get<int64_t>();
  const auto existing = input.at("existing").get<int64_t>();
  const auto measured = input.at("measured").get<int64_t>();
  const bool has_terms = input.at("of").get<std::string>() == "anti_affinity";
  const std::string terms =
      ", labels: {color: green}, anti_affinity: [{topology_key: hostname, "
      "match_labels: {color: green}}]";
  const bool may_repel = has_terms && existing + measured <= nodes;
  const std::string job = "        - {kind: pods, work: 10d, pods: ";
  ScenarioRun run{
      "cluster: {pools: [{name: all, machine: dgx-a100, count: " + std::to_string(nodes) +
          "}]}\npolicy: {cost: {preset: kubernetes_1_15}, plugins: [{name: InterPodAffinity}]}\n"
          "workload:\n  sources:\n    - kind: jobs\n      jobs:\n" +
          job + std::to_string(existing) + ", pod: {cpus: 0.1" + (may_repel ? terms : "") + "}}\n" +
          job + std::to_string(measured) + ", submit: 1h, pod: {cpus: 0.1" +
          (has_terms ? terms : "") + "}}\nrun: {until: 2h}\n",
      {},
      {.audit_every = 100'000}};
  Time last;
  size_t bound = 0;
  for (const PodRow& row : run.recorder.rows<PodRow>("/pods")) {
    last = std::max(last, row.bound);
    bound += static_cast<size_t>(row.bound > Time{} + 1_h);
  }
  EXPECT_EQ(bound, static_cast<size_t>(measured));
  return (last - Time{} - 1_h).seconds() * 1e3 / static_cast<double>(measured);
}

json old_scheduler(const json& input) {
  const double ms = ms_per_pod_2019(input);
  return input.at("quantity") == "ratio" ? ms / ms_per_pod_2019(input.at("to")) : ms;
}

TEST(OldSchedulerValidation, TakesThePublishedTimes) {
  test::check_cases("control_plane_old_scheduler.json", 6, old_scheduler);
}

}  // namespace
}  // namespace orrery
