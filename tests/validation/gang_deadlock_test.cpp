// Runs data/gang_deadlock.json: gangs that cannot all run at once, under each base profile.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/report.hpp"
#include "tests/support/scheduler_world.hpp"

namespace orrery {
namespace {

using Json = nlohmann::json;

std::string scenario_of(const Json& row) {
  const Json pool{{"name", "n"}, {"machine", "box"}, {"count", row["nodes"]}};
  Json workload{{"sources", {{{"kind", "jobs"}, {"jobs", row["jobs"]}}}}};
  if (row.contains("controller")) workload["controller"] = row["controller"];
  const Json scenario{
      {"cluster",
       {{"machines", {{{"name", "box"}, {"base", "hgx-h100"}, {"gpus", 1}}}}, {"pools", {pool}}}},
      {"workload", workload},
      {"run", {{"stall_limit", "2h"}}}};
  return scenario.dump();  // JSON is YAML
}

std::string end_of(const ScenarioRun& run) {
  if (run.result.end == SimulationResult::End::Done) return "done";
  return run.result.end == SimulationResult::End::Stalled ? "stalled" : "otherwise";
}

std::string yes_if(bool condition) { return condition ? "yes" : "no"; }

// Whether the first job starts within 2 min, and the second one within 6 min after the end of the
// first.
bool one_after_the_other(const std::vector<JobRow>& jobs) {
  return jobs.size() == 2 && jobs[0].running < Time{} + 2_min && jobs[1].running >= jobs[0].ended &&
         jobs[1].running < jobs[0].ended + 6_min;
}

// Says whether the only deadlock began when the last successful scheduling cycle started. A cycle
// reserves a GPU when it starts. Once the last free GPU is reserved, no job can complete, so the
// deadlock begins in that instant.
std::string onset_of(ScenarioRun& run) {
  Time last_start{-1};
  for (const AttemptRow& row : run.recorder.rows<AttemptRow>("/events/attempts")) {
    if (row.outcome == AttemptOutcome::Scheduled) last_start = std::max(last_start, row.at);
  }
  const auto deadlocks = run.deadlocks();
  if (deadlocks.size() != 1) return "none";
  return deadlocks[0].onset == last_start ? "last start" : "another instant";
}

Json figures_of(ScenarioRun& run) {
  auto jobs = run.jobs();
  std::ranges::sort(jobs, {}, &JobRow::running);
  const auto count = [&](JobOutcome outcome) {
    return std::ranges::count(jobs, outcome, &JobRow::outcome);
  };
  const auto deadlocks = run.deadlocks();
  double gpus_held = 0;
  for (const DeadlockRow& deadlock : deadlocks) gpus_held += deadlock.gpus_held;
  std::string members;
  for (const DeadlockMemberRow& member : run.members()) {
    members += (members.empty() ? "" : " ") + std::to_string(member.assigned) + "/" +
               std::to_string(member.needed);
  }
  const auto scheduled =
      std::ranges::find(run.result.summary, "pods_scheduled", &SummaryValue::name);
  return {
      {"end", end_of(run)},
      {"pending", count(JobOutcome::Pending)},
      {"completed", count(JobOutcome::Completed)},
      {"deadlocks", deadlocks.size()},
      {"unresolved deadlocks",
       std::ranges::count(deadlocks, DeadlockEnd::Unresolved, &DeadlockRow::resolution)},
      {"gpus held", gpus_held},
      {"pods of members", members},
      {"one after the other", yes_if(one_after_the_other(jobs))},
      {"all run within 3 s",
       yes_if(std::ranges::all_of(jobs,
                                  [](const JobRow& job) { return job.running < Time{} + 3_s; }))},
      {"pods scheduled", std::get<int64_t>(scheduled->value)},
  };
}

TEST(GangDeadlock, JobsRunOrDeadlockAsTheirProfileMustMakeThem) {
  std::ifstream file{ORRERY_SOURCE_DIR "/tests/validation/data/gang_deadlock.json"};
  const Json data = Json::parse(file);
  for (const Json& row : data["cases"]) {
    const auto id = row["id"].get<std::string>();
    ScenarioRun run{scenario_of(data["scenarios"][row["scenario"].get<std::string>()]), row["set"]};
    Json figures = figures_of(run);
    // This figure needs a run that records attempts.
    if (row["expected"].contains("onset")) figures["onset"] = onset_of(run);
    for (const auto& [figure, theirs] : row["expected"].items()) {
      const Json& ours = figures.at(figure);
      if (ours.is_number() && theirs.is_number()) {
        test::report({.id = id, .figure = figure}, ours.get<double>(), theirs.get<double>());
      } else {
        test::report({.id = id, .figure = figure}, ours.get<std::string>(),
                     theirs.get<std::string>());
      }
      EXPECT_EQ(ours, theirs) << id << ": " << figure;
    }
  }
}

}  // namespace
}  // namespace orrery
