// Shipped scenarios, against observations of operators.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "models/telemetry/cardiogram_rows.hpp"
#include "tests/support/shipped_run.hpp"
#include "tests/support/validation_cases.hpp"

namespace orrery {
namespace {

using nlohmann::json;

// The percentage of the cardiogram's window in which ranks did not compute, as a mean over ranks.
double idle_percent(ShippedRun& run, const std::string& job) {
  const uint64_t serial = run.job(job).job;
  double computing = 0;
  int rows = 0;
  for (const CardiogramRow& row : run.recorder.rows<CardiogramRow>("/timeline/cardiogram")) {
    if (row.job != serial) continue;
    computing += row.computing;
    ++rows;
  }
  return 100 * (1 - computing / rows);
}

// The mean of a column in the interval that ends at `at` seconds: over the dead ranks if `is_dead`,
// else over the others.
double at_time(ShippedRun& run, double at, bool is_dead, double CardiogramRow::*column) {
  double sum = 0;
  int ranks = 0;
  for (const CardiogramRow& row : run.recorder.rows<CardiogramRow>("/timeline/cardiogram")) {
    if (row.time != Time{} + nearest_ns(at)) continue;
    if ((row.phase == RankPhase::Dead) != is_dead) continue;
    sum += row.*column;
    ++ranks;
  }
  return sum / ranks;
}

double gpus_below_percent(ShippedRun& run, double watts) {
  const auto rows = run.recorder.rows<CardiogramRow>("/timeline/cardiogram");
  const auto below = std::ranges::count_if(
      rows, [&](const CardiogramRow& row) { return row.power_watts <= watts; });
  return 100 * static_cast<double>(below) / static_cast<double>(rows.size());
}

json ours_in_training_scenarios(const json& input) {
  const auto quantity = input.at("quantity").get<std::string>();
  ShippedRun run{input.at("scenario").get<std::string>()};
  if (quantity == "gpus_below_percent") return gpus_below_percent(run, input.at("watts"));
  const auto job = input.at("job").get<std::string>();
  if (quantity == "idle_percent") return idle_percent(run, job);
  if (quantity == "outcome") return std::string{name_of(run.job(job).outcome)};
  if (quantity == "hung_minutes") return run.job(job).gpu_s_hung / run.job(job).gpus / 60;
  const bool is_dead = input.at("rank").get<std::string>() == "dead";
  const auto at = input.at("at_seconds").get<double>();
  if (quantity == "reported") return at_time(run, at, is_dead, &CardiogramRow::reported);
  if (quantity == "power_watts") return at_time(run, at, is_dead, &CardiogramRow::power_watts);
  return "unknown quantity";
}

TEST(TrainingScenarios, EveryCaseOfTheTableHolds) {
  test::check_cases("training_scenarios.json", 21, ours_in_training_scenarios);
}

}  // namespace
}  // namespace orrery
