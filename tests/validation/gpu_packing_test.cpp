// Runs data/gpu_packing.json through FGD, its baselines and the measure of fragmentation.
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "models/scheduling/toolbox/fragmentation.hpp"
#include "tests/support/fake_handle.hpp"
#include "tests/support/report.hpp"

namespace orrery {
namespace {

using Json = nlohmann::json;

PodSpec pod_of(const Json& row) {
  PodSpec spec;
  spec.cpu_milli = row.value("cpu", int64_t{0});
  spec.gpus = row.value("gpus", 0);
  spec.gpu_milli = row.value("milli", 1000);
  return spec;
}

class PackingCase {
 public:
  explicit PackingCase(const Json& row) : row_{row} {
    for (const Json& node : row["nodes"]) add(node);
    handle_.state.seal();
    for (uint32_t n = 0; n < row["nodes"].size(); ++n) use_up({n}, row["nodes"][n]["left"]);
    std::vector<TypicalPod> pods;
    for (const Json& kind : row.value("typical", Json::array())) {
      const PodSpec spec = pod_of(kind);
      pods.push_back({.cpu_milli = spec.cpu_milli,
                      .gpus = spec.gpus,
                      .gpu_milli = spec.gpu_milli,
                      .required_terms = {},
                      .weight = kind["weight"]});
    }
    if (!pods.empty()) measure_ = std::make_unique<Fragmentation>(handle_.state, pods);
    handle_.measure = measure_.get();
  }

  std::vector<double> fragmented() const {
    std::vector<double> milli;
    for (const NodeId n : candidates_) {
      milli.push_back(static_cast<double>(measure_->of(measure_->node(n))) /
                      static_cast<double>(measure_->weight()));
    }
    return milli;
  }
  std::vector<double> scores() {
    const auto policy = make_policy(handle_, row_["policy"]);
    for (const NodeId n : candidates_) {
      for (const Json& there : row_["nodes"][n.index].value("pods", Json::array())) {
        handle_.place(handle_.add_pod(pod_of(there)), n);
        handle_.occupy(n, pod_of(there));
      }
    }
    const PodView pod = handle_.add_pod(pod_of(row_["pod"]));
    const Cycle cycle = handle_.cycle(pod);
    std::vector<int64_t> scores(candidates_.size(), -1);
    as<Score>(policy).score(cycle, candidates_, scores);
    if (row_.value("normalized", false)) as<Score>(policy).normalize(scores);
    if (row_.contains("gpus")) {
      for (const NodeId n : candidates_) {
        EXPECT_EQ(as<PickDevices>(policy).pick(cycle, n), row_["gpus"][n.index]);
      }
    }
    return {scores.begin(), scores.end()};
  }

 private:
  void add(const Json& node) {
    Resources has;
    has[Resource::Cpu] = node.value("cpu", int64_t{64000});
    has[Resource::Gpu] = static_cast<int64_t>(node["left"].size()) * kMilli;
    const NodeId id = handle_.add_node(has);
    if (node.value("candidate", true)) candidates_.push_back(id);
  }
  void use_up(NodeId node, const Json& left) {
    for (uint32_t gpu = 0; gpu < left.size(); ++gpu) {
      ClusterState::Request request;
      const auto used = static_cast<int32_t>(kMilli) - left[gpu].get<int32_t>();
      request.resources[Resource::Gpu] = used;
      if (used > 0) handle_.state.take(node, request, {static_cast<GpuMask>(1U << gpu), used});
    }
  }

  const Json& row_;
  FakeHandle handle_;
  std::vector<NodeId> candidates_;
  std::unique_ptr<Fragmentation> measure_;
};

TEST(GpuPackingConformance, ScoresAndFragmentationAreThoseOfTheArtifact) {
  std::ifstream file{ORRERY_SOURCE_DIR "/tests/validation/data/gpu_packing.json"};
  const Json data = Json::parse(file);
  size_t cases = 0;
  for (const Json& row : data["cases"]) {
    SCOPED_TRACE(row["id"].get<std::string>());
    PackingCase packing{row};
    const std::vector<double> ours =
        row["policy"] == "fragmentation" ? packing.fragmented() : packing.scores();
    const auto expected = row["expected"].get<std::vector<double>>();
    test::report({.id = row["id"].get<std::string>()}, ours, expected);
    ASSERT_EQ(ours.size(), expected.size());
    for (size_t i = 0; i < ours.size(); ++i) EXPECT_NEAR(ours[i], expected[i], 1e-9);
    ++cases;
  }
  EXPECT_EQ(cases, 15u) << "a case was lost or added: say so here";
}

}  // namespace
}  // namespace orrery
