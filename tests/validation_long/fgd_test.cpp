// The packing experiment of the FGD paper, run with the published openb lists of nodes and pods.
// data/fgd_atc23.json has the expected values.
#include <zlib.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "models/scheduling/packing_log.hpp"
#include "tests/support/report.hpp"
#include "tests/support/scheduler_world.hpp"
#include "tests/unit/workload/trace_support.hpp"

namespace orrery {
namespace {

using Json = nlohmann::json;
constexpr size_t kLoads = 4;
struct Curve {
  std::array<double, kLoads> allocated{}, fragmented{};
};

std::string text_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream{path}.rdbuf();
  return text.str();
}

std::string unpacked(const std::filesystem::path& path) {
  std::string text;
  std::array<char, 65536> piece{};
  const gzFile file = gzopen(path.c_str(), "rb");
  for (int n = 0; (n = gzread(file, piece.data(), piece.size())) > 0;) {
    text.append(piece.data(), static_cast<size_t>(n));
  }
  gzclose(file);
  return text;
}

// Adds the column gpu_spec and the columns after it to lists without them. The experiment uses none
// of these columns. But without the time columns, the reader requires default_duration.
std::string with_all_columns(const std::string& list) {
  std::istringstream lines{list};
  std::string line, text;
  std::getline(lines, line);
  const bool is_bare = line.ends_with("gpu_milli");
  if (!is_bare) return list;
  text = line + ",gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n";
  while (std::getline(lines, line)) text += line + ",,LS,Running,0,1,0\n";
  return text;
}

std::vector<std::string> settings(const std::string& policy, const std::string& pods,
                                  int64_t seed) {
  const auto nodes = test::real_trace("alibaba-gpu-v2023-openb/openb_node_list_gpu_node.csv");
  std::vector<std::string> sets = {
      "cluster.openb_nodes[0].file=" + nodes.string(), "workload.sources[0].file=" + pods,
      "policy.plugins[4].name=" + policy, "record.pods=false", "run.seed=" + std::to_string(seed)};
  if (policy == "Random") sets.emplace_back("policy.plugins[3].args.strategy=random");
  return sets;
}

Curve run_once(const std::string& scenario, const std::vector<std::string>& sets,
               const std::vector<int32_t>& loads) {
  ScenarioRun run{scenario, sets, {.audit_every = 0}};
  Curve curve;
  size_t found = 0;
  for (const PackingSample& row : run.recorder.rows<PackingSample>("/timeline/packing")) {
    const auto at = std::ranges::find(loads, row.load) - loads.begin();
    if (at == static_cast<std::ptrdiff_t>(kLoads)) continue;
    curve.allocated[static_cast<size_t>(at)] = row.allocated;
    curve.fragmented[static_cast<size_t>(at)] = row.fragmented;
    ++found;
  }
  EXPECT_EQ(found, kLoads) << "every load is reached";
  return curve;
}

void compare(const Json& row, const Curve& ours, const std::vector<int32_t>& loads) {
  for (const char* what : {"allocated", "fragmented"}) {
    for (size_t i = 0; i < kLoads; ++i) {
      const double mine =
          std::string_view{what} == "allocated" ? ours.allocated[i] : ours.fragmented[i];
      const double theirs = row["expected"][what][i].get<double>();
      test::report({.id = row["id"].get<std::string>(),
                    .figure = std::string{what} + " at " + std::to_string(loads[i]) + " %"},
                   mine, theirs);
      EXPECT_NEAR(mine, theirs, 100 * row["tolerance"].get<double>()) << what << " " << loads[i];
    }
  }
}

std::vector<Json> cases_of(const Json& data, const std::string& workload) {
  std::vector<Json> cases;
  std::ranges::copy_if(data["cases"], std::back_inserter(cases),
                       [&](const Json& row) { return row["input"]["workload"] == workload; });
  return cases;
}

class FgdExperiment : public testing::TestWithParam<std::string> {};

TEST_P(FgdExperiment, AllocatesAndFragmentsWhatThePaperPublished) {
  const auto list =
      test::real_trace("alibaba-gpu-v2023-openb/openb_pod_list_" + GetParam() + ".csv.gz");
  const std::string scenario = text_of(ORRERY_SOURCE_DIR "/scenarios/fgd-openb.yaml");
  const Json data =
      Json::parse(text_of(ORRERY_SOURCE_DIR "/tests/validation_long/data/fgd_atc23.json"));
  if (!std::filesystem::exists(list)) {
    const std::string why = "there is no " + list.string();
    for (const Json& row : cases_of(data, GetParam())) {
      test::report_unchecked(row["id"].get<std::string>(), why);
    }
    GTEST_SKIP() << why;
  }
  const auto loads = data["loads"].get<std::vector<int32_t>>();
  ASSERT_EQ(loads.size(), kLoads);
  const test::TemporaryFile pods{with_all_columns(unpacked(list))};
  const std::vector<Json> cases = cases_of(data, GetParam());
  EXPECT_EQ(cases.size(), 6u);
  for (const Json& row : cases) {
    SCOPED_TRACE(row["id"].get<std::string>());
    // Policy Random gets more seeds than the others. With ten seeds its means scatter by 0.2
    // points, and some of the many means would miss the tolerance of 0.5 points by chance.
    const bool is_random = row["input"]["policy"] == "Random";
    const int64_t seeds = data[is_random ? "seeds_of_random" : "seeds"];
    Curve mean;
    for (int64_t seed = 1; seed <= seeds; ++seed) {
      const Curve one =
          run_once(scenario, settings(row["input"]["policy"], pods.path(), seed), loads);
      for (size_t i = 0; i < kLoads; ++i) {
        mean.allocated[i] += one.allocated[i] / static_cast<double>(seeds);
        mean.fragmented[i] += one.fragmented[i] / static_cast<double>(seeds);
      }
    }
    compare(row, mean, loads);
  }
}

INSTANTIATE_TEST_SUITE_P(Openb, FgdExperiment,
                         testing::Values("default", "cpu050", "cpu100", "gpushare40", "gpuspec10",
                                         "multigpu20", "multigpu30"),
                         [](const auto& list) { return list.param; });

}  // namespace
}  // namespace orrery
