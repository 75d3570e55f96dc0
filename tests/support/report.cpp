#include "tests/support/report.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace orrery::test {
namespace {

std::string text_of(double value, int digits) {
  std::array<char, 64> text{};
  if (value == 0) value = 0;  // -0 is written as 0
  const auto end =
      std::to_chars(text.begin(), text.end(), value, std::chars_format::general, digits);
  return {text.begin(), end.ptr};
}

std::string text_of(double value) { return text_of(value, 10); }

std::string signed_text_of(double value) { return (value > 0 ? "+" : "") + text_of(value, 3); }

double shown(double value) {
  const std::string text = text_of(value);
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::string difference_of(double ours, double theirs) {
  if (!std::isfinite(ours) || !std::isfinite(theirs)) return "differs";
  const double difference = shown(ours) - shown(theirs);
  if (difference == 0) return "0";
  const std::string absolute = signed_text_of(difference);
  if (theirs == 0) return absolute;
  return absolute + " (" + signed_text_of(100 * difference / std::abs(theirs)) + " %)";
}

std::string joined(const std::vector<double>& values) {
  std::string text;
  for (const double value : values) text += (text.empty() ? "" : " ") + text_of(value);
  return text.empty() ? "none" : text;
}

// Writes the row to the running test's own file, because tests may run in parallel processes.
void keep(const nlohmann::json& row) {
  const char* const folder = std::getenv("ORRERY_VALIDATION_RESULTS");
  const auto* const running = testing::UnitTest::GetInstance()->current_test_info();
  if (folder == nullptr || running == nullptr) return;
  std::string name = std::string{running->test_suite_name()} + "." + running->name() + ".jsonl";
  std::ranges::replace(name, '/', '.');
  static std::string written;
  static std::ofstream file;
  if (name != written) {
    std::filesystem::create_directories(folder);
    file = std::ofstream{std::filesystem::path{folder} / name};
    written = name;
  }
  file << row.dump() << std::endl;
}

void tell(const Finding& finding, std::string_view ours, std::string_view theirs,
          std::string_view difference) {
  std::string name{finding.id};
  if (!finding.figure.empty()) (name += ' ') += finding.figure;
  std::printf("%s: ours %s, theirs %s, difference %s\n", name.c_str(), std::string{ours}.c_str(),
              std::string{theirs}.c_str(), std::string{difference}.c_str());
  keep({{"id", finding.id},
        {"figure", finding.figure},
        {"ours", ours},
        {"theirs", theirs},
        {"difference", difference}});
}

}  // namespace

std::string case_of(std::string_view file, std::string_view id) {
  std::ifstream in{std::filesystem::path{ORRERY_SOURCE_DIR} / file};
  const auto data = nlohmann::json::parse(in);
  for (const nlohmann::json& row : data.at("cases")) {
    if (row.at("id").get<std::string>() == id) return row.dump();
  }
  throw std::out_of_range{std::string{file} + " has no case " + std::string{id}};
}

void report(const Finding& finding, double ours, double theirs) {
  tell(finding, text_of(ours), text_of(theirs), difference_of(ours, theirs));
}

void report(const Finding& finding, std::string_view ours, std::string_view theirs) {
  tell(finding, ours, theirs, ours == theirs ? "same" : "differs");
}

void report(const Finding& finding, const std::vector<double>& ours,
            const std::vector<double>& theirs) {
  std::string differences = "differs";
  if (ours == theirs) {
    differences = "0";
  } else if (ours.size() == theirs.size()) {
    differences.clear();
    for (size_t i = 0; i < ours.size(); ++i) {
      differences += (i > 0 ? ", " : "") + difference_of(ours[i], theirs[i]);
    }
  }
  tell(finding, joined(ours), joined(theirs), differences);
}

void report_unchecked(std::string_view id, std::string_view why) {
  std::printf("NOT CHECKED: %s: %s\n", std::string{id}.c_str(), std::string{why}.c_str());
  keep({{"id", id}, {"unchecked", why}});
}

}  // namespace orrery::test
