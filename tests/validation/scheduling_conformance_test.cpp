// Runs data/kube_scheduler_scoring.json through the registered policies.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "models/scheduling/framework/feasible_nodes_to_find.hpp"
#include "models/scheduling/toolbox/scoring.hpp"
#include "sim/config/quantity.hpp"
#include "tests/support/fake_handle.hpp"
#include "tests/support/report.hpp"

namespace orrery {
namespace {

using Json = nlohmann::json;

Json read_cases(const std::string& name) {
  std::ifstream file{std::string{ORRERY_SOURCE_DIR} + "/tests/validation/data/" + name};
  EXPECT_TRUE(file.good()) << name;
  return Json::parse(file).at("cases");
}

int64_t byte_count_of(const Json& value) {
  if (value.is_number()) return value.get<int64_t>();
  return config::parse_quantity(value.get<std::string>(), config::kBytesMeasure).value;
}

PodSpec pod_spec_of(const Json& row) {
  PodSpec spec;
  spec.cpu_milli = row.value("cpu", int64_t{0});
  spec.memory_bytes = row.contains("memory") ? byte_count_of(row["memory"]) : 0;
  spec.gpus = row.value("gpus", 0);
  spec.containers = row.value("containers", 1);
  for (const Json& image : row.value("images", Json::array())) {
    spec.images.push_back({image[0].get<std::string>(), byte_count_of(image[1])});
  }
  return spec;
}

std::vector<int64_t> score_nodes(const Json& row) {
  FakeHandle handle;
  std::vector<NodeId> candidates;
  for (const Json& node : row["nodes"]) {
    Resources has;
    has[Resource::Cpu] = node.value("cpu", int64_t{0});
    has[Resource::Memory] = node.contains("memory") ? byte_count_of(node["memory"]) : 0;
    has[Resource::Gpu] = node.value("gpus", int64_t{0}) * kMilli;
    const NodeId id = handle.add_node(has, node.value("leaf", 0u));
    if (node.value("candidate", true)) candidates.push_back(id);
  }
  handle.state.seal();
  const auto policy = make_policy(handle, row["policy"], row.value("args", Json::object()).dump());
  const PodView pod = handle.add_pod(pod_spec_of(row["pod"]));
  for (uint32_t i = 0; i < row["nodes"].size(); ++i) {
    const Json& node = row["nodes"][i];
    for (const Json& used : node.value("used", Json::array())) {
      handle.occupy({i}, pod_spec_of(used));
    }
    for (int k = node.value("siblings", 0); k > 0; --k) {
      handle.place(handle.add_pod(pod_spec_of(row["pod"])), {i});
    }
  }
  std::vector<int64_t> scores(candidates.size(), -1);
  const Cycle cycle = handle.cycle(pod);
  if (auto* const pre = dynamic_cast<PreScore*>(policy.get()); pre != nullptr) {
    EXPECT_TRUE(pre->pre_score(cycle, candidates).ok());
  }
  as<Score>(policy).score(cycle, candidates, scores);
  as<Score>(policy).normalize(scores);
  return scores;
}

std::vector<int64_t> apply_function(const Json& row) {
  std::vector<ShapePoint> shape;
  for (const Json& point : row.value("shape", Json::array())) shape.push_back({point[0], point[1]});
  std::vector<int64_t> results;
  for (const int64_t input : row["inputs"]) {
    results.push_back(row["function"] == "shape"
                          ? shape_score(shape, input)
                          : feasible_nodes_to_find(input, row["percentage"]));
  }
  return results;
}

TEST(SchedulingConformance, EveryScoreIsTheOneKubeSchedulerGives) {
  size_t cases = 0;
  for (const Json& row : read_cases("kube_scheduler_scoring.json")) {
    const auto id = row["id"].get<std::string>();
    SCOPED_TRACE(id + ": " + row["source"].get<std::string>());
    const auto ours = row.contains("function") ? apply_function(row) : score_nodes(row);
    const auto expected = row["expected"].get<std::vector<int64_t>>();
    test::report({.id = id}, std::vector<double>{ours.begin(), ours.end()},
                 std::vector<double>{expected.begin(), expected.end()});
    EXPECT_EQ(ours, expected);
    ++cases;
  }
  EXPECT_EQ(cases, 32u) << "a case was lost or added: say so here";
}

}  // namespace
}  // namespace orrery
