#include "tests/support/validation_cases.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <set>
#include <string>

#include "tests/support/report.hpp"

namespace orrery::test {

using nlohmann::json;

void check_cases(std::string_view file, size_t cases_min,
                 const std::function<json(const json& input)>& ours) {
  std::ifstream stream{ORRERY_SOURCE_DIR "/tests/validation/data/" + std::string{file}};
  ASSERT_TRUE(stream) << file;
  const json document = json::parse(stream);
  const json& cases = document.is_array() ? document : document.at("cases");
  ASSERT_GE(cases.size(), cases_min);
  const std::set<std::string> kinds{"independent", "calibrated", "target", "closed_form",
                                    "derived"};
  for (const json& row : cases) {
    const auto id = row.at("id").get<std::string>();
    EXPECT_TRUE(kinds.contains(row.at("kind").get<std::string>())) << id;
    EXPECT_FALSE(row.at("source").get<std::string>().empty()) << id;
    const json& expected = row.at("expected");
    const json result = ours(row.at("input"));
    if (expected.is_string()) {
      report({.id = id}, result.is_string() ? result.get<std::string>() : result.dump(),
             expected.get<std::string>());
      EXPECT_EQ(result, expected) << id;
      continue;
    }
    ASSERT_TRUE(result.is_number()) << id << ": " << result;
    const double got = result.get<double>(), want = expected.get<double>();
    report({.id = id}, got, want);
    EXPECT_LE(std::abs(got - want), row.at("tolerance").get<double>() * std::abs(want)) << id;
  }
}

}  // namespace orrery::test
