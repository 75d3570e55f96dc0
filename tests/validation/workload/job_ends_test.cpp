// Outcomes of recorded and generated jobs, against published figures.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/report.hpp"
#include "tests/support/scheduler_world.hpp"
#include "tests/unit/workload/trace_support.hpp"

namespace orrery {
namespace {

using nlohmann::json;

json job_ends_scenario(const json& source) {
  return {{"cluster", {{"pools", {{{"name", "gpus"}, {"machine", "dgx-a100"}, {"count", 4096}}}}}},
          {"workload", {{"sources", {source}}}},
          {"policy", {{"driver", "counting"}, {"job_queue", {{"policies", {{{"name", "FIFO"}}}}}}}},
          {"record", {{"off", {"/jobs"}}}}};
}

// Numbers of completed, cancelled and failed jobs of a source.
std::vector<double> ends_of(const json& source) {
  ScenarioRun run{job_ends_scenario(source).dump(), {}, {.audit_every = 0}};
  EXPECT_EQ(run.result.end, SimulationResult::End::Done);
  std::vector<double> counts(3);
  for (const SummaryValue& value : run.result.summary) {
    const auto count = [&] { return static_cast<double>(std::get<int64_t>(value.value)); };
    if (value.name == "jobs_completed") counts[0] = count();
    if (value.name == "jobs_cancelled") counts[1] = count();
    if (value.name == "jobs_failed") counts[2] = count();
  }
  return counts;
}

void check(const json& c, std::vector<double> ours) {
  const auto id = c["id"].get<std::string>();
  const auto theirs = c["expected"].get<std::vector<double>>();
  test::report({.id = id}, ours, theirs);
  for (size_t i = 0; i < theirs.size(); ++i) {
    EXPECT_NEAR(ours[i], theirs[i], c["tolerance"].get<double>() * theirs[i]) << id;
  }
}

TEST(JobEnds, SharesAreThoseThatWerePublished) {
  std::ifstream file{std::string{ORRERY_SOURCE_DIR} + "/tests/validation/data/job_ends.json"};
  for (const json& c : json::parse(file)) {
    const json& input = c["input"];
    if (input.contains("preset")) {
      const json shape{{"kind", "preset"}, {"preset", input["preset"]}, {"ends", "published"}};
      std::vector<double> shares = ends_of(
          {{"kind", "generator"}, {"arrival_rate", 3000}, {"jobs_max", 100'000}, {"shape", shape}});
      for (double& share : shares) share /= 100'000;
      check(c, shares);
      continue;
    }
    const auto trace = test::real_trace(input["trace"].get<std::string>());
    if (!std::filesystem::exists(trace)) {
      test::report_unchecked(c["id"].get<std::string>(), "there is no " + trace.string());
      continue;
    }
    check(c, ends_of({{"kind", "trace"}, {"file", trace.string()}}));
  }
}

}  // namespace
}  // namespace orrery
