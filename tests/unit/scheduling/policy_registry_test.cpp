#include "models/scheduling/contract/policy_registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/fake_handle.hpp"
#include "tests/support/temporary_folder.hpp"

namespace orrery::policy_registry_test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

PolicyRegistry& registry() { return PolicyRegistry::instance(); }

std::string plugin(const std::string& name) {
  return std::string{ORRERY_BINARY_DIR} + "/plugins/lib" + name + ".so";
}

// Why the registry rejected a library. A rejected library must not have registered a policy.
std::string refusal(const std::string& path) {
  const auto names = registry().names();
  const size_t problems = registry().problems().size();
  EXPECT_FALSE(registry().load(path));
  EXPECT_EQ(registry().names(), names);
  EXPECT_EQ(registry().problems().size(), problems + 1);
  return registry().problems().back();
}

TEST(PolicyRegistry, KnowsTheBuiltInPolicies) {
  EXPECT_THAT(registry().names(),
              IsSupersetOf({"Coscheduling", "DefaultDevices", "GangScheduling", "ImageLocality",
                            "NodeAffinity", "NodeName", "NodeResourcesBalancedAllocation",
                            "NodeResourcesFit", "NodeUnschedulable", "PodGroupPodsCount",
                            "PodTopologySpread", "PrioritySort", "Random", "StrictGang",
                            "TaintToleration", "TopologyPlacement"}));
  const auto* const fit = registry().find("NodeResourcesFit");
  ASSERT_NE(fit, nullptr);
  EXPECT_EQ(fit->origin, "built in");
  EXPECT_EQ(fit->points, (std::vector<std::string>{"Filter", "Score", "EventHints"}));
  EXPECT_EQ(registry().find("NoSuchPolicy"), nullptr);
}

TEST(PolicyRegistry, EveryPolicyDescribesItselfAndStartsWithItsDefaults) {
  for (const auto& [name, entry] : registry().entries()) {
    SCOPED_TRACE(name);
    EXPECT_FALSE(entry.doc.empty());
    EXPECT_FALSE(entry.points.empty());
    for (const FieldTree& field : entry.describe().children) EXPECT_FALSE(field.doc.empty());
    EXPECT_EQ(
        (entry.make ? 1 : 0) + (entry.make_for_jobs ? 1 : 0) + (entry.make_controller ? 1 : 0), 1);
    if (entry.make == nullptr) continue;
    FakeHandle handle;
    EXPECT_NE(make_policy(handle, name), nullptr);
  }
}

TEST(PolicyRegistry, LoadsAPolicyFromASharedLibraryAndItDecides) {
  ASSERT_TRUE(registry().load(plugin("fewest_pods"))) << registry().problems().back();
  const auto* const entry = registry().find("FewestPods");
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->origin, plugin("fewest_pods"));
  EXPECT_EQ(entry->points, std::vector<std::string>{"Score"});
  EXPECT_THAT(complaints("FewestPods", "{spear: 2}"), HasSubstr("did you mean 'spare'"));

  FakeHandle handle;
  const NodeId empty = handle.add_node({}), full = handle.add_node({});
  handle.state.seal();
  for (int i = 0; i < 3; ++i) handle.occupy(full, {});
  const auto policy = make_policy(handle, "FewestPods", "{spare: 1}");
  const PodView pod = handle.add_pod({});
  std::array<int64_t, 2> scores{};
  as<Score>(policy).score(handle.cycle(pod), std::array{empty, full}, scores);
  EXPECT_EQ(scores, (std::array<int64_t, 2>{100, 98}));

  EXPECT_THAT(refusal(plugin("fewest_pods")), HasSubstr("loaded already"));
}

TEST(PolicyRegistry, APolicyMayServePointsThatItsArgumentsName) {
  PolicyRegistry::Entry entry;
  entry.points = {"Filter", "Score", "Plan"};
  EXPECT_TRUE(entry.serves(Score::kPoint, {}) && entry.serves_pods({}) && entry.serves_jobs({}));
  entry.points_of_code = [](const RawParams& args) {
    return std::vector<std::string>{args.node["point"].text};
  };
  Diagnostics diagnostics;
  const RawParams args{config::load_text("{point: Score}", "args", diagnostics).root, "args"};
  EXPECT_TRUE(entry.serves(Score::kPoint, args));
  EXPECT_FALSE(entry.serves(Filter::kPoint, args));
  EXPECT_TRUE(entry.serves_pods(args));
  EXPECT_FALSE(entry.serves_jobs(args));
  EXPECT_EQ(entry.label("Code", args), "Code");
  entry.name_of_code = [](const RawParams& given) { return given.node["point"].text; };
  EXPECT_EQ(entry.label("Code", args), "Code:Score");
}

TEST(PolicyRegistry, TellsWhyALibraryIsRefused) {
  EXPECT_THAT(refusal("/nowhere/libx.so"), HasSubstr("/nowhere/libx.so: there is no such file"));
  EXPECT_THAT(refusal(ORRERY_BINARY_DIR), HasSubstr("this is a directory"));
  const test::TemporaryFolder folder;
  folder.write("list.so", "a shopping list\n");
  EXPECT_THAT(refusal((folder / "list.so").string()),
              HasSubstr("is not a library that can be loaded"));
  EXPECT_THAT(refusal(plugin("wrong_abi")),
              HasSubstr("was built for policy interface " + std::to_string(kPolicyAbiVersion + 1)));
  EXPECT_THAT(refusal(plugin("wrong_compiler")), HasSubstr("compiler 0.0.0 of nobody"));
  EXPECT_THAT(refusal(plugin("no_symbol")), HasSubstr("no symbol orrery_policy_abi"));
  EXPECT_THAT(refusal(plugin("duplicate_name")),
              HasSubstr("registers policy 'NodeName', which exists already (built in)"));
  EXPECT_THAT(refusal(plugin("twice_the_same")),
              HasSubstr("registers policy 'TwiceTheSame' twice"));
  EXPECT_THAT(refusal(plugin("no_policy")), HasSubstr("registers no policy"));
  EXPECT_THAT(refusal(plugin("unresolved")), HasSubstr("orrery_nobody_has_this"));
}

TEST(PolicyRegistry, SurvivesALibraryThatThrowsWhileItIsLoaded) {
  EXPECT_THAT(refusal(plugin("throws_at_load")),
              HasSubstr("threw an exception while it was loaded: no licence"));
  EXPECT_THAT(refusal(plugin("no_symbol")), HasSubstr("no symbol orrery_policy_abi"));
}

}  // namespace
}  // namespace orrery::policy_registry_test
