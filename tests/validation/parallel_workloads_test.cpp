// Replays an eleven-month job log of the KTH SP2 with EASY backfilling, and compares the results
// with published simulations of the same log.
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

std::string replay_of_log(const json& input) {
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
      {"record", {{"timeline", {{"interval", "1h"}}}}}};
  return scenario.dump();  // JSON is YAML
}

struct Moments {
  double sum = 0, sum_of_squares = 0, max = 0;

  void add(double value) {
    sum += value;
    sum_of_squares += value * value;
    max = std::max(max, value);
  }
};

// Adds a mean, maxima and root mean squares that the summary of a run lacks.
void add_moments(const std::vector<JobRow>& jobs, std::map<std::string, double>& figures) {
  Moments jct, slowdown, bounded;
  for (const JobRow& job : jobs) {
    const double flow = (job.ended - job.submitted).seconds();
    const double run = (job.ended - job.running).seconds();
    jct.add(flow);
    slowdown.add(flow / run);
    bounded.add(std::max(1.0, flow / std::max(10.0, run)));
  }
  const auto count = static_cast<double>(jobs.size());
  figures["jct_max"] = jct.max;
  figures["jct_rms"] = std::sqrt(jct.sum_of_squares / count);
  figures["slowdown_mean"] = slowdown.sum / count;
  figures["slowdown_max"] = slowdown.max;
  figures["slowdown_rms"] = std::sqrt(slowdown.sum_of_squares / count);
  figures["bounded_slowdown_rms"] = std::sqrt(bounded.sum_of_squares / count);
}

std::map<std::string, double> figures_of(const json& input) {
  ScenarioRun run{replay_of_log(input), {}, {.audit_every = 100'000}};
  EXPECT_EQ(run.result.end, SimulationResult::End::Done);
  std::map<std::string, double> figures;
  for (const SummaryValue& value : run.result.summary) {
    if (const auto* const number = std::get_if<double>(&value.value)) figures[value.name] = *number;
  }
  add_moments(run.jobs(), figures);
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
  // Figures of each run, by policy and estimates.
  std::map<std::string, std::map<std::string, double>> runs;
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
