// Queue policies: the schedules of small queues, and the results of formulas. Expected values are
// published, or computed by hand from the rules.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "models/scheduling/job_queue/runtime_estimates.hpp"
#include "models/scheduling/toolbox/fair_share.hpp"
#include "models/scheduling/toolbox/gittins.hpp"
#include "tests/support/report.hpp"
#include "tests/support/scheduler_world.hpp"

namespace orrery {
namespace {

using nlohmann::json;

json cases_of(const std::string& file) {
  std::ifstream in{std::string{ORRERY_SOURCE_DIR} + "/tests/validation/data/" + file};
  return json::parse(in);
}

std::string queue_scenario_of(const json& c) {
  json machine{{"name", "box"}, {"base", "cpu-32"}, {"cpus", 1}};
  json pool{{"name", "n"}, {"machine", "box"}, {"count", c["procs"]}};
  if (c.contains("memory")) {  // a case with memory has one node instead of one for each processor
    machine["memory"] = c["memory"];
    machine["cpus"] = c["procs"];
    pool["count"] = 1;
  }
  json queue{{"policies", c["policies"]}, {"counts", c.value("counts", json{"cpus"})}};
  for (const char* const key : {"stops", "estimates"}) {
    if (c.contains(key)) queue[key] = c[key];
  }
  json workload{{"sources", {{{"kind", "jobs"}, {"jobs", c["jobs"]}}}}};
  if (c.contains("controller")) workload["controller"] = c["controller"];
  const json scenario{{"cluster", {{"machines", {machine}}, {"pools", {pool}}}},
                      {"workload", workload},
                      {"policy", {{"driver", "counting"}, {"job_queue", queue}}}};
  return scenario.dump();  // JSON is YAML
}

bool is_overtaken(const JobRow& high, const std::vector<JobRow>& jobs) {
  return std::ranges::any_of(jobs, [&](const JobRow& low) {
    return low.priority < high.priority && low.pods >= high.pods && low.running < high.running;
  });
}

// The share of the jobs called `name` that started at the same time as a job called `other`.
double share_beside(const std::vector<JobRow>& jobs, std::string_view name,
                    std::string_view other) {
  double all = 0, beside = 0;
  for (const JobRow& job : jobs) {
    if (job.name.view() != name) continue;
    ++all;
    beside += std::ranges::any_of(jobs, [&](const JobRow& host) {
      return host.name.view() == other && host.running == job.running;
    });
  }
  return beside / all;
}

double seen(const std::vector<JobRow>& jobs, const std::string& what) {
  const auto named = [&](std::string_view name) -> const JobRow* {
    const auto found =
        std::ranges::find_if(jobs, [&](const JobRow& job) { return job.name.view() == name; });
    return found == jobs.end() ? nullptr : &*found;
  };
  if (const JobRow* const job = named(what)) return job->running.seconds();
  if (what == "overtaken") {
    return static_cast<double>(
        std::ranges::count_if(jobs, [&](const JobRow& job) { return is_overtaken(job, jobs); }));
  }
  constexpr std::string_view kStarted = "started at 0 by ", kBeside = " starts beside ";
  if (what.starts_with(kStarted)) {
    return static_cast<double>(std::ranges::count_if(jobs, [&](const JobRow& job) {
      return job.user.view() == what.substr(kStarted.size()) && job.running == Time{};
    }));
  }
  if (const size_t at = what.find(kBeside); at != std::string::npos) {
    return share_beside(jobs, what.substr(0, at), what.substr(at + kBeside.size()));
  }
  const size_t space = what.rfind(' ');
  const JobRow* const job = named(what.substr(0, space));
  if (job == nullptr || space == std::string::npos) return NAN;
  if (what.substr(space) == " ends") return job->ended.seconds();
  return what.substr(space) == " failed" ? job->outcome == JobOutcome::Failed : NAN;
}

// Fair-share factors of users. `usage` lists the users' usage by account. Accounts have equal
// shares, unless the case gives `shares`.
json fairshare_factors(const json& input) {
  std::vector<FairShareAccount> accounts;
  for (const json& users : input["usage"]) {
    accounts.push_back({.shares = 1, .users = {}});
    for (const double usage : users) accounts.back().users.push_back({.usage = usage});
  }
  if (input.contains("shares")) {
    for (size_t i = 0; i < accounts.size(); ++i) accounts[i].shares = input["shares"][i];
  }
  input["way"] == "fair_tree" ? fair_tree(accounts)
                              : classic_fair_share(accounts, input.value("damping", 1.0));
  json factors = json::array();
  for (const FairShareAccount& account : accounts) {
    for (const FairShareUser& user : account.users) factors.push_back(user.factor);
  }
  return factors;
}

json gittins_indices(const json& input) {
  const auto services = input["services"].get<std::vector<double>>();
  json indices = json::array();
  for (const double attained : input["attained"]) {
    indices.push_back(gittins_index(services, attained, input["quantum"]));
  }
  return indices;
}

// For noisy estimates of a run time of 1 h: the median of estimate / run time, and the standard
// deviation of the logarithm of this ratio.
json estimate_errors(const json& input) {
  const RuntimeEstimates estimates{
      {.kind = EstimateKind::Noisy, .sigma = input["sigma"], .correction = {}}, RngStreams{1}};
  std::vector<double> logs;
  for (uint64_t serial = 0; serial < input["jobs"]; ++serial) {
    QueuedJob job;
    job.serial = serial;
    logs.push_back(std::log(estimates.estimate(job, 1_h).seconds() / 3600));
  }
  std::ranges::sort(logs);
  const auto n = static_cast<double>(logs.size());
  double sum = 0, squares = 0;
  for (const double x : logs) sum += x, squares += x * x;
  const double mean = sum / n;
  return {std::exp(logs[logs.size() / 2]), std::sqrt(squares / n - mean * mean)};
}

TEST(QueuePolicies, FormulasGiveWhatIsPublished) {
  for (const json& c : cases_of("queue_policies.json")) {
    if (!c.contains("input")) continue;
    const auto id = c["id"].get<std::string>();
    const json& input = c["input"];
    const auto quantity = input["quantity"].get<std::string>();
    const auto ours = quantity == "fairshare factors" ? fairshare_factors(input)
                      : quantity == "Gittins indices" ? gittins_indices(input)
                                                      : estimate_errors(input);
    const auto theirs = c["expected"].get<std::vector<double>>();
    test::report({.id = id}, ours.get<std::vector<double>>(), theirs);
    ASSERT_EQ(ours.size(), theirs.size()) << id;
    for (size_t i = 0; i < theirs.size(); ++i) {
      const double tolerance = c.value("tolerance", 0.0) * std::abs(theirs[i]);
      EXPECT_NEAR(ours[i].get<double>(), theirs[i], std::max(tolerance, 1e-9)) << id;
    }
  }
}

TEST(QueuePolicies, JobsStartWhenTheRulesSay) {
  const json cases = cases_of("queue_policies.json");
  ASSERT_FALSE(cases.empty());
  for (const json& c : cases) {
    if (!c.contains("jobs")) continue;
    const auto id = c["id"].get<std::string>();
    ScenarioRun run{queue_scenario_of(c)};
    ASSERT_EQ(run.result.end, SimulationResult::End::Done) << id;
    const std::vector<JobRow> jobs = run.jobs();
    for (const auto& [what, expected] : c["expected"].items()) {
      const double ours = seen(jobs, what);
      test::report({.id = id, .figure = what}, ours, expected.get<double>());
      const double tolerance = c.value("tolerance", 0.0) * std::abs(expected.get<double>());
      EXPECT_NEAR(ours, expected.get<double>(), std::max(tolerance, 1e-6)) << id << ": " << what;
    }
  }
}

}  // namespace
}  // namespace orrery
