// Keys of pods without effect, and the warnings about them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "models/cluster/ground.hpp"
#include "models/scenario/scenario.hpp"

namespace orrery {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Warnings about two jobs, of which the first has these keys of `pod` and this priority.
std::vector<std::string> pod_warnings(const std::string& pod, const std::string& plane = "none",
                                      const std::string& priority = "0") {
  Diagnostics diagnostics;
  const config::Document document = config::load_text(
      "cluster: {pools: [{name: n, machine: dgx-a100, count: 2}]}\n"
      "control_plane: {level: " +
          plane +
          "}\n"
          "workload: {sources: [{kind: jobs, jobs: [{work: 1h, priority: " +
          priority + ", pod: {gpus: 8, " + pod + "}}, {work: 1h, pod: {gpus: 8}}]}]}\n",
      "s.yaml", diagnostics);
  const Scenario scenario = read_scenario(document, diagnostics);
  if (diagnostics.ok()) Ground{scenario}.check(scenario, document.root, diagnostics);
  EXPECT_TRUE(diagnostics.ok()) << diagnostics.text();
  return diagnostics.warnings();
}

TEST(PodFacts, AnImageNeedsAControlPlaneOrImageLocality) {
  const std::string image = "image: {name: train, size: 1GB}";
  EXPECT_THAT(
      pod_warnings(image),
      ElementsAre(HasSubstr("image: has no effect: there is neither a control plane nor the "
                            "plugin ImageLocality")));
  EXPECT_THAT(pod_warnings(image, "delays"), IsEmpty());
}

TEST(PodFacts, APreemptionPolicyNeedsUnequalPriorities) {
  const std::string never = "preemption_policy: never";
  EXPECT_THAT(
      pod_warnings(never),
      ElementsAre(HasSubstr("preemption_policy: has no effect: no pod can be preempted (by a "
                            "pod of higher priority)")));
  EXPECT_THAT(pod_warnings(never, "none", "1"), IsEmpty());
}

}  // namespace
}  // namespace orrery
