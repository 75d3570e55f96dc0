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
  const json data = json::parse(stream);
  const json& cases = data.is_object() ? data.at("cases") : data;
  ASSERT_GE(cases.size(), cases_min);
  const std::set<std::string> kinds{"independent", "calibrated", "target", "closed_form",
                                    "derived"};
  for (const json& row : cases) {
    const auto id = row.at("id").get<std::string>();
    EXPECT_TRUE(kinds.contains(row.at("kind").get<std::string>())) << id;
    EXPECT_FALSE(row.at("source").get<std::string>().empty()) << id;
    const json& expected = row.at("expected");
    const json result = ours(row.at("input"));
    if (result.is_null()) {
      report_unchecked(id, "its file is absent");
      continue;
    }
    if (expected.is_string()) {
      report({.id = id}, result.is_string() ? result.get<std::string>() : result.dump(),
             expected.get<std::string>());
      EXPECT_EQ(result, expected) << id;
      continue;
    }
    ASSERT_TRUE(result.is_number()) << id << ": " << result;
    const double got = result.get<double>(), want = expected.get<double>();
    report({.id = id}, got, want);
    const double tolerance = row.at("tolerance").get<double>() * std::abs(want);
    if (row.value("is_reproduced", true)) {
      EXPECT_LE(std::abs(got - want), tolerance) << id;
    } else {
      EXPECT_GT(std::abs(got - want), tolerance) << id << " is reproduced now: say so";
    }
  }
}

}  // namespace orrery::test
