// Small queues whose outcome is published, or follows from a policy's rules by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "models/scheduling/fair_share.hpp"
#include "models/scheduling/gittins.hpp"
#include "tests/support/report.hpp"
#include "tests/support/scheduler_world.hpp"

namespace orrery {
namespace {

using nlohmann::json;

json cases_of(const std::string& file) {
  std::ifstream in{std::string{ORRERY_SOURCE_DIR} + "/tests/validation/data/" + file};
  return json::parse(in);
}

std::string scenario_of(const json& c) {
  json machine{{"name", "box"}, {"base", "cpu-32"}, {"cpus", 1}};
  json pool{{"name", "n"}, {"machine", "box"}, {"count", c["procs"]}};
  if (c.contains("memory")) {  // one node with all of it
    machine["memory"] = c["memory"];
    machine["cpus"] = c["procs"];
    pool["count"] = 1;
  }
  json queue{{"policies", c["policies"]}, {"counts", c.value("counts", json{"cpus"})}};
  if (c.contains("stops")) queue["stops"] = c["stops"];
  const json scenario{{"cluster", {{"machines", {machine}}, {"pools", {pool}}}},
                      {"workload", {{"sources", {{{"kind", "jobs"}, {"jobs", c["jobs"]}}}}}},
                      {"policy", {{"driver", "counting"}, {"job_queue", queue}}}};
  return scenario.dump();  // JSON is YAML
}

bool is_overtaken(const JobRow& high, const std::vector<JobRow>& jobs) {
  return std::ranges::any_of(jobs, [&](const JobRow& low) {
    return low.priority < high.priority && low.pods >= high.pods && low.running < high.running;
  });
}

double seen(const std::vector<JobRow>& jobs, const std::string& what) {
  const auto named = [&](std::string_view name) -> const JobRow* {
    const auto found =
        std::ranges::find_if(jobs, [&](const JobRow& job) { return job.name.view() == name; });
    return found == jobs.end() ? nullptr : &*found;
  };
  if (const JobRow* const job = named(what)) return job->running.seconds();
  constexpr std::string_view kEnds = " ends", kStarted = "started at 0 by ";
  if (what.ends_with(kEnds)) {
    const JobRow* const job = named(what.substr(0, what.size() - kEnds.size()));
    return job == nullptr ? NAN : job->ended.seconds();
  }
  if (what == "overtaken") {
    return static_cast<double>(
        std::ranges::count_if(jobs, [&](const JobRow& job) { return is_overtaken(job, jobs); }));
  }
  if (!what.starts_with(kStarted)) return NAN;
  return static_cast<double>(std::ranges::count_if(jobs, [&](const JobRow& job) {
    return job.user.view() == what.substr(kStarted.size()) && job.running == Time{};
  }));
}

TEST(QueuePolicies, JobsStartWhenTheRulesSay) {
  const json cases = cases_of("queue_policies.json");
  ASSERT_FALSE(cases.empty());
  for (const json& c : cases) {
    const auto id = c["id"].get<std::string>();
    ScenarioRun run{scenario_of(c)};
    ASSERT_EQ(run.result.end, SimulationResult::End::Done) << id;
    const std::vector<JobRow> jobs = run.jobs();
    for (const auto& [what, expected] : c["expected"].items()) {
      const double ours = seen(jobs, what);
      test::report({.id = id, .figure = what}, ours, expected.get<double>());
      EXPECT_NEAR(ours, expected.get<double>(), 1e-6) << id << ": " << what;
    }
  }
}

// Case QP-06.
TEST(QueuePolicies, FairTreeRanksTheLessServedAccountFirst) {
  std::vector<FairShareAccount> accounts{{.shares = 1, .users = {{.usage = 100}, {.usage = 0}}},
                                         {.shares = 1, .users = {{.usage = 25}, {.usage = 25}}}};
  fair_tree(accounts);
  EXPECT_EQ(accounts[1].users[0].factor, 1);
  EXPECT_EQ(accounts[1].users[1].factor, 1);
  EXPECT_EQ(accounts[0].users[1].factor, 0.5);
  EXPECT_EQ(accounts[0].users[0].factor, 0.25);
}

// 2^-1 for who used just what is due, 1 for who used nothing.
TEST(QueuePolicies, ClassicFairShareHalvesAtTheDueShare) {
  std::vector<FairShareAccount> accounts{{.shares = 1, .users = {{.usage = 50}}},
                                         {.shares = 1, .users = {{.usage = 50}}},
                                         {.shares = 0, .users = {{.usage = 0}}}};
  classic_fair_share(accounts);
  EXPECT_DOUBLE_EQ(accounts[0].users[0].factor, 0.5);
  EXPECT_EQ(accounts[2].users[0].factor, 0);
}

// Case QP-08.
TEST(QueuePolicies, GittinsIndexIsThatOfTheArtifact) {
  const std::vector<double> services{100, 200, 300, 400, 1000};
  EXPECT_DOUBLE_EQ(gittins_index(services, 0, 250), 1904.7619);
  EXPECT_DOUBLE_EQ(gittins_index(services, 150, 250), 2608.6957);
  EXPECT_EQ(gittins_index(services, 1000, 250), 0);
}

}  // namespace
}  // namespace orrery
