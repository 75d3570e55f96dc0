// Eleven months of a parallel computer under EASY backfilling, against published simulations of it.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/scheduler_world.hpp"

namespace orrery {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

const fs::path kTrace = fs::path{ORRERY_SOURCE_DIR}.parent_path() / "shared" / "traces" / "swf" /
                        "KTH-SP2-1996-2_28481.swf.gz";

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
  if (!fs::exists(kTrace)) {
    std::printf("NOT CHECKED: there is no %s\n", kTrace.c_str());
    GTEST_SKIP() << "there is no " << kTrace;
  }
  std::ifstream file{std::string{ORRERY_SOURCE_DIR} +
                     "/tests/validation/data/parallel_workloads.json"};
  const json cases = json::parse(file);
  ASSERT_FALSE(cases.empty());
  std::map<std::string, std::map<std::string, double>> runs;  // by policy and estimates
  std::printf("%-52s %16s %16s %10s\n", "case", "ours", "theirs", "difference");
  for (const json& c : cases) {
    const json& input = c["input"];
    const std::string key = input["policy"].dump() + input["estimates"].dump();
    if (!runs.contains(key)) runs[key] = figures_of(input);
    const double ours = runs[key][input["quantity"].get<std::string>()];
    const auto theirs = c["expected"].get<double>();
    const double difference = ours / theirs - 1;
    std::printf("%-52s %16.9f %16.9f %+10.1e\n", c["id"].get<std::string>().c_str(), ours, theirs,
                difference);
    EXPECT_LE(std::abs(difference), c["tolerance"].get<double>()) << c["id"];
  }
}

}  // namespace
}  // namespace orrery
