// Recorded jobs on a pool of GPUs, against an independent replay by plain rules.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/scheduler_world.hpp"

namespace orrery {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

const fs::path kTraces = fs::path{ORRERY_SOURCE_DIR}.parent_path() / "shared" / "traces";

std::string scenario_of(const json& input) {
  json source = input["trace"];
  source["kind"] = "trace";
  source["file"] = (kTraces / input["trace"]["file"].get<std::string>()).string();
  const json scenario{
      {"cluster",
       {{"machines", {{{"name", "box"}, {"base", "v100m32-8"}, {"gpus", 1}}}},
        {"pools", {{{"name", "gpus"}, {"machine", "box"}, {"count", input["gpus"]}}}}}},
      {"workload", {{"sources", {source}}}},
      {"policy",
       {{"driver", "counting"},
        {"job_queue", {{"policies", input["policies"]}, {"estimates", {{"kind", "exact"}}}}}}},
      {"record", {{"timeline", {{"interval", "1h"}}}, {"off", {"/jobs"}}}}};
  return scenario.dump();  // JSON is YAML
}

double jct_mean(const json& input) {
  ScenarioRun run{scenario_of(input), {}, {.audit_every = 100'000}};
  EXPECT_EQ(run.result.end, SimulationResult::End::Done);
  for (const SummaryValue& value : run.result.summary) {
    if (value.name == "jct_mean") return std::get<double>(value.value);
  }
  return NAN;
}

TEST(Replays, RecordedJobsEndWhenPlainRulesSay) {
  std::ifstream file{std::string{ORRERY_SOURCE_DIR} + "/tests/validation/data/replays.json"};
  const json cases = json::parse(file);
  ASSERT_FALSE(cases.empty());
  int skipped = 0;
  for (const json& c : cases) {
    const json& input = c["input"];
    const fs::path trace = kTraces / input["trace"]["file"].get<std::string>();
    if (!fs::exists(trace)) {
      std::printf("NOT CHECKED: %s: there is no %s\n", c["id"].get<std::string>().c_str(),
                  trace.c_str());
      ++skipped;
      continue;
    }
    const double ours = jct_mean(input);
    const auto theirs = c["expected"].get<double>();
    const double difference = ours / theirs - 1;
    std::printf("%-32s %16.6f %16.6f %+10.1e\n", c["id"].get<std::string>().c_str(), ours, theirs,
                difference);
    EXPECT_LE(std::abs(difference), c["tolerance"].get<double>()) << c["id"];
  }
  if (skipped > 0) GTEST_SKIP() << skipped << " cases lack their trace";
}

}  // namespace
}  // namespace orrery
