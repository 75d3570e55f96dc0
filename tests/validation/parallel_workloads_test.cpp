// Eleven months of a parallel computer under EASY backfilling, against published simulations of it.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/report.hpp"
#include "tests/support/scheduler_world.hpp"
#include "tests/unit/workload/trace_support.hpp"

namespace orrery {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

const fs::path kTrace = test::real_trace("swf/KTH-SP2-1996-2_28481.swf.gz");

std::string scenario_of(const json& input) {
  const json scenario{
      {"cluster",
       {{"machines", {{{"name", "sp2"}, {"base", "cpu-32"}, {"cpus", 1}}}},
        {"pools", {{{"name", "sp2"}, {"machine", "sp2"}, {"count", 100}}}}}},
      {"workload",
       {{"sources", {{{"kind", "trace"}, {"format", "swf"}, {"file", kTrace.string()}}}}}},
      {"policy",
       {{"driver", "counting"},
        {"job_queue",
         {{"policies", {input["policy"]}},
          {"estimates", input["estimates"]},
          {"counts", {"cpus"}},
          {"react", "each_event"}}}}},
      {"record", {{"timeline", {{"interval", "1h"}}}, {"off", {"/jobs"}}}}};
  return scenario.dump();  // JSON is YAML
}

std::map<std::string, double> figures_of(const json& input) {
  ScenarioRun run{scenario_of(input), {}, {.audit_every = 100'000}};
  EXPECT_EQ(run.result.end, SimulationResult::End::Done);
  std::map<std::string, double> figures;
  for (const SummaryValue& value : run.result.summary) {
    if (const auto* const number = std::get_if<double>(&value.value)) figures[value.name] = *number;
  }
  return figures;
}

TEST(ParallelWorkloads, KthSp2HasItsPublishedFlowTimesAndSlowdowns) {
  std::ifstream file{std::string{ORRERY_SOURCE_DIR} +
                     "/tests/validation/data/parallel_workloads.json"};
  const json cases = json::parse(file);
  ASSERT_FALSE(cases.empty());
  if (!fs::exists(kTrace)) {
    for (const json& c : cases) {
      test::report_unchecked(c["id"].get<std::string>(), "there is no " + kTrace.string());
    }
    GTEST_SKIP() << "there is no " << kTrace;
  }
  std::map<std::string, std::map<std::string, double>> runs;  // by policy and estimates
  for (const json& c : cases) {
    const json& input = c["input"];
    const std::string key = input["policy"].dump() + input["estimates"].dump();
    if (!runs.contains(key)) runs[key] = figures_of(input);
    const double ours = runs[key][input["quantity"].get<std::string>()];
    const auto theirs = c["expected"].get<double>();
    test::report({.id = c["id"].get<std::string>()}, ours, theirs);
    EXPECT_LE(std::abs(ours / theirs - 1), c["tolerance"].get<double>()) << c["id"];
  }
}

}  // namespace
}  // namespace orrery
