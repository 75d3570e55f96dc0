// Scenarios with bad cables, bad routes or few CPU cores, compared with reports of operators.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "models/telemetry/timeline_rows.hpp"
#include "tests/support/shipped_run.hpp"
#include "tests/support/validation_cases.hpp"

namespace orrery {
namespace {

using nlohmann::json;

// Seconds of exchange for each second of compute.
double exchange_of(const JobRow& job) { return job.gpu_s_exchange / job.gpu_s_useful; }

// The factor by which the damaged cable lengthens the exchanges of the slowest job. The cable is
// damaged after 10 min. All jobs are equal, so the fastest one shows exchanges without damage.
double bent_slowdown(ShippedRun& run) {
  const auto rows = run.recorder.rows<JobRow>("/jobs");
  const auto [clean, bent] = std::ranges::minmax(rows, {}, exchange_of);
  const double work = Duration{bent.work}.seconds();
  const double before = 600 / (1 + exchange_of(clean));  // seconds of compute until 10 min
  const double exchanged = work * exchange_of(bent) - before * exchange_of(clean);
  return exchanged / (work - before) / exchange_of(clean);
}

double bent_others(ShippedRun& run) {
  ShippedRun clean{"bent-cable", {"faults.links.list=[]"}};
  double worst = 1;
  int slow = 0;
  for (const JobRow& row : run.recorder.rows<JobRow>("/jobs")) {
    const double ratio = exchange_of(row) / exchange_of(clean.job("train"));
    ratio > 2 ? ++slow : worst = std::max(worst, ratio);
  }
  return slow == 1 ? worst : slow;
}

double exchange_at(const ClusterSample& row) { return row.gpus_total / row.gpus_computing - 1; }

json of_cursed_route(ShippedRun& run, const json& input) {
  const auto rows = run.recorder.rows<ClusterSample>("/timeline/cluster");
  const auto [good, bad] = std::ranges::minmax(rows, {}, exchange_at);
  if (input.at("quantity") == "freeze_slowdown") return exchange_at(bad) / exchange_at(good);
  const Time after = Time{} + nearest_ns(3600 * input.at("hours").get<double>());
  int64_t frozen = 0;
  for (const ClusterSample& row : rows) {
    frozen += row.time > after && exchange_at(row) > 2 * exchange_at(good) ? 1 : 0;
  }
  return frozen;
}

double speed(ShippedRun& run, const std::string& job) {
  return 1 / (1 + exchange_of(run.job(job)));
}

json ours_in_link_scenarios(const json& input) {
  const auto quantity = input.at("quantity").get<std::string>();
  const auto scenario = input.at("scenario").get<std::string>();
  ShippedRun run{scenario};
  if (quantity == "exchange_slowdown") return bent_slowdown(run);
  if (quantity == "exchange_of_others") return bent_others(run);
  if (scenario == "cursed-route") return of_cursed_route(run, input);
  if (quantity == "dmodk_across_leaves") {
    ShippedRun dmodk{scenario, {"network.routing.engine=dmodk"}};
    return speed(dmodk, "nodes-64") / speed(dmodk, "nodes-8");
  }
  const auto job = input.at("job").get<std::string>();
  if (quantity == "speed_to_dmodk") {
    ShippedRun dmodk{scenario, {"network.routing.engine=dmodk"}};
    return speed(run, job) / speed(dmodk, job);
  }
  if (quantity == "exchange_ratio") {
    return exchange_of(run.job(job)) / exchange_of(run.job(input.at("to").get<std::string>()));
  }
  return "unknown quantity";
}

TEST(LinkScenarios, EveryCaseOfTheTableHolds) {
  test::check_cases("link_scenarios.json", 9, ours_in_link_scenarios);
}

}  // namespace
}  // namespace orrery
