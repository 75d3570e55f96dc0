// What `orrery describe NAME` prints for a metric, for a part of a name, and for keys in common.
#include <gmock/gmock.h>

#include <algorithm>
#include <ranges>
#include <string>
#include <string_view>

#include "models/scenario/scenario.hpp"
#include "sim/config/field_path.hpp"
#include "tests/support/cli_run.hpp"

namespace orrery {
namespace {

using ::testing::HasSubstr;

TEST(Describe, AMetricIsExplainedByItsName) {
  const Said mean = run({"describe", "jobs_completed"}), p99 = run({"describe", "wait_p99"});
  EXPECT_EQ(mean.status, 0);
  EXPECT_THAT(mean.out, HasSubstr("  jobs_completed  jobs that completed (jobs)\n"));
  EXPECT_THAT(p99.out, HasSubstr("  wait_p99  99th percentile of the time from submission"));
}

TEST(Describe, APartOfANameFindsTheNamesThatHaveIt) {
  EXPECT_THAT(run({"describe", "kueue"}).err,
              HasSubstr("; names that contain it: KueueTopology\n"));
  EXPECT_THAT(run({"describe", "policy.bse"}).err, HasSubstr("; did you mean 'policy.base'?"));
}

// The field at a path that names each step.
const FieldTree* at_exact_path(const FieldTree& root, std::string_view path) {
  const FieldTree* field = &root;
  for (const auto step : std::views::split(path, '.')) {
    const std::vector<FieldTree>& parts = parts_of(held_by(*field));
    const auto part = std::ranges::find_if(
        parts, [&](const FieldTree& one) { return std::ranges::equal(one.name, step); });
    if (part == parts.end()) return nullptr;
    field = &*part;
  }
  return field;
}

TEST(Describe, KeysInCommonAreAtThePathThatIsNamed) {
  const FieldTree scenario = describe_scenario();
  const std::string text = run({"describe", "scenario"}).out;
  constexpr std::string_view kBefore = "Same keys as `";
  size_t references = 0;
  for (size_t at = 0; (at = text.find(kBefore, at)) != std::string::npos; ++references) {
    at += kBefore.size();
    const std::string path = text.substr(at, text.find('`', at) - at);
    const FieldTree* const place = at_exact_path(scenario, path);
    ASSERT_NE(place, nullptr) << path;
    EXPECT_EQ(place, find_path(scenario, path)) << "`orrery describe " << path << "`";
  }
  EXPECT_GT(references, 5U);
  EXPECT_THAT(text, HasSubstr("Same keys as `policy`."));
}

}  // namespace
}  // namespace orrery
