// Published failure logs: their contents, and their replay in a run.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "models/faults/logs/failure_log.hpp"
#include "models/faults/node_faults.hpp"
#include "tests/support/job_world.hpp"
#include "tests/support/report.hpp"
#include "tests/unit/workload/trace_support.hpp"

namespace orrery {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

uint64_t replayed(const FailureLog& log, const FailureLogParams& params) {
  JobWorld world{{.nodes = static_cast<uint32_t>(log.nodes.size()), .gpus = 1, .records = false}};
  NodeFaults faults{{world.engine, world.rng, world.recorder},
                    world.cluster,
                    world.presence,
                    world.controller,
                    world.jobs,
                    {}};
  EXPECT_TRUE(faults.replay(log, params).empty());
  faults.start();
  world.run(Time{} + log.span + 1_s);
  return faults.counters().faults;
}

double measured(const json& input, const FailureLog& log, const FailureLogParams& params) {
  const auto quantity = input["quantity"].get<std::string>();
  if (quantity == "nodes") return static_cast<double>(log.nodes.size());
  if (quantity == "replayed") return static_cast<double>(replayed(log, params));
  return static_cast<double>(std::ranges::count_if(
      log.outages, [&](const Outage& outage) { return log.causes[outage.cause] == quantity; }));
}

TEST(PublishedFailureLogs, HaveTheirNodesAndFailures) {
  std::ifstream file{std::string{ORRERY_SOURCE_DIR} + "/tests/validation/data/failure_logs.json"};
  const json cases = json::parse(file);
  ASSERT_FALSE(cases.empty());
  size_t checked = 0;
  for (const json& c : cases) {
    const fs::path path = test::real_trace(c["input"]["log"].get<std::string>());
    const auto id = c["id"].get<std::string>();
    if (!fs::exists(path)) {
      test::report_unchecked(id, "there is no " + path.string());
      continue;
    }
    FailureLogParams params;
    params.file = path.string();
    params.repair = FixedRepair{};
    const FailureLog log = read_failure_log(params);
    ASSERT_EQ(log.error, "");
    const double value = measured(c["input"], log, params);
    const auto expected = c["expected"].get<double>();
    test::report({.id = id}, value, expected);
    EXPECT_EQ(value, expected) << id;
    ++checked;
  }
  if (checked == 0) GTEST_SKIP() << "no log is at hand";
}

}  // namespace
}  // namespace orrery
