// The mean completion time of recorded jobs on a pool of GPUs, compared with that of
// replay_oracle.py, which replays them by plain rules.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/report.hpp"
#include "tests/support/scheduler_world.hpp"
#include "tests/unit/workload/trace_support.hpp"

namespace orrery {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

fs::path trace_of(const json& input) {
  return test::real_trace(input["trace"]["file"].get<std::string>());
}

std::string replay_scenario_of(const json& input) {
  json source = input["trace"];
  source["kind"] = "trace";
  source["file"] = trace_of(input).string();
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
  ScenarioRun run{replay_scenario_of(input), {}, {.audit_every = 100'000}};
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
    const auto id = c["id"].get<std::string>();
    if (const fs::path trace = trace_of(input); !fs::exists(trace)) {
      test::report_unchecked(id, "there is no " + trace.string());
      ++skipped;
      continue;
    }
    const double ours = jct_mean(input);
    const auto theirs = c["expected"].get<double>();
    test::report({.id = id}, ours, theirs);
    EXPECT_LE(std::abs(ours / theirs - 1), c["tolerance"].get<double>()) << id;
  }
  if (skipped > 0) GTEST_SKIP() << skipped << " cases lack their trace";
}

}  // namespace
}  // namespace orrery
