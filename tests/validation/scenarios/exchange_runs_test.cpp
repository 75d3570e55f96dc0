// Exchanges of training steps in runs, against measurements on clusters.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "models/network/collectives/collectives.hpp"
#include "tests/support/scheduler_world.hpp"
#include "tests/support/validation_cases.hpp"

namespace orrery {
namespace {

using nlohmann::json;

constexpr int kSteps = 1000;

// A gang with one pod on each node. A pod has `gpus` GPUs, 8 by default. Each step computes for 1 s
// and makes one exchange.
std::string exchange_scenario_of(const json& input) {
  const auto text = [&](const char* key, const std::string& otherwise) {
    return input.value(key, otherwise);
  };
  const std::string nodes = std::to_string(input.at("nodes").get<int>());
  std::string yaml =
      "cluster: {pools: [{name: n, machine: " + text("machine", "") + ", count: " + nodes + "}]}\n";
  yaml += "network:\n  level: " + text("level", "") + "\n";
  if (input.contains("sweep")) {
    yaml += "  exchanges: [{span: " + text("span", "") + ", sweep: [";
    for (const json& point : input.at("sweep")) {
      yaml += "{bytes: " + point.at(0).get<std::string>() +
              ", bandwidth: " + std::to_string(point.at(1).get<double>()) + "GBps}, ";
    }
    yaml += "]}]\n";
  }
  yaml += "workload:\n  steps: " + text("steps", "rate") +
          "\n  training:\n    step:\n      compute: 1s\n      exchanges: [{among: all, bytes: " +
          text("bytes", "") + ", collective: " + text("collective", "all_reduce");
  for (const char* const key : {"algorithm", "stages", "servers"}) {
    if (input.contains(key)) yaml += std::string{", "} + key + ": " + text(key, "");
  }
  yaml += "}]\n  sources: [{kind: jobs, jobs: [{name: a, work: " + std::to_string(kSteps) +
          "s, pods: " + nodes + ", pod: {gpus: " + std::to_string(input.value("gpus", 8)) +
          ", cpus: 48}}]}]\n";
  return yaml + "policy: {base: strict_gang}\n";
}

json ours_in_exchange_runs(const json& input) {
  ScenarioRun run{exchange_scenario_of(input), {}, {}};
  const double seconds = (run.jobs().at(0).run.seconds() - kSteps) / kSteps;
  const auto quantity = input.at("quantity").get<std::string>();
  if (quantity == "ms") return seconds * 1e3;
  if (quantity != "bus_gigabytes_per_s") return "unknown quantity";
  const int32_t ranks = input.at("nodes").get<int32_t>() * input.value("gpus", 8);
  const auto size = input.at("size").get<double>();
  return size * bus_factor(Collective::AllReduce, ranks) / seconds / 1e9;
}

TEST(ExchangeRuns, EveryCaseOfTheTableHolds) {
  test::check_cases("exchange_runs.json", 40, ours_in_exchange_runs);
}

}  // namespace
}  // namespace orrery
