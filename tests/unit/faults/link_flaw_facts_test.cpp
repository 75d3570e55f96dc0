// Link flaws without effect, and the warnings about them.
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

std::vector<std::string> flaw_warnings(const std::string& engine, const std::string& flaw) {
  Diagnostics diagnostics;
  const config::Document document = config::load_text(R"(
cluster: {pools: [{name: n, machine: dgx-a100, count: 2, nodes_per_leaf: 1}]}
workload:
  training: {step: {compute: 1s, exchanges: [{bytes: 1GB}]}}
  sources: [{kind: jobs, jobs: [{work: 1h, pods: 2, pod: {gpus: 8}}]}]
network: {level: flow, routing: {engine: )" + engine + R"(}}
faults: {links: {list: [{on: leaf-0.up-0, at: 1min, until: 2min, flaw: {kind: )" +
                                                          flaw + "}}]}}\n",
                                                      "s.yaml", diagnostics);
  const Scenario scenario = read_scenario(document, diagnostics);
  if (diagnostics.ok()) Ground{scenario}.check(scenario, document.root, diagnostics);
  EXPECT_TRUE(diagnostics.ok()) << diagnostics.text();
  return diagnostics.warnings();
}

TEST(LinkFlawFacts, OnlyACursedLinkNeedsAdaptiveRouting) {
  EXPECT_THAT(
      flaw_warnings("minhop", "cursed"),
      ElementsAre(HasSubstr("flaw: has no effect: kind is cursed, and routing is never adaptive")));
  EXPECT_THAT(flaw_warnings("minhop", "dead"), IsEmpty());
  EXPECT_THAT(flaw_warnings("adaptive_local", "cursed"), IsEmpty());
}

}  // namespace
}  // namespace orrery
