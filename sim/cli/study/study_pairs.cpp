#include "sim/cli/study/study_pairs.hpp"

#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

#include "sim/cli/arguments.hpp"
#include "sim/config/diagnostics.hpp"
#include "sim/core/enum_names.hpp"

namespace orrery {
namespace {

std::vector<std::string> cells_in(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  std::vector<std::string> cells{""};
  for (const char c : line) {
    c == ',' ? cells.emplace_back() : cells.back() += c;
  }
  return cells;
}

double number_in(const std::string& cell, const std::string& where) {
  if (cell.empty()) return std::numeric_limits<double>::quiet_NaN();
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error == std::errc{} && end == cell.data() + cell.size()) return value;
  throw UsageError{where + ": expected a number, got " + in_quotes(cell)};
}

std::string row_of(const std::string& name, const PairedDifference& paired) {
  const Estimate percent = paired.percent();
  std::string row = name + "," + std::to_string(paired.pairs);
  for (const double value : {paired.baseline, paired.difference.mean,
                             paired.difference.interval.low, paired.difference.interval.high,
                             percent.mean, percent.interval.low, percent.interval.high}) {
    row += "," + exact_text(value);
  }
  row.append(",").append(name_of(paired.scale)).append(",").append(name_of(paired.verdict()));
  return row + "," + exact_text(paired.correlation) + "\n";
}

}  // namespace

std::string pairs_csv(std::istream& table, const std::string& name,
                      const IntervalOptions& options) {
  std::string line;
  std::getline(table, line);
  const std::vector<std::string> names = cells_in(line);
  if (names.size() < 2) {
    throw UsageError{name + ":1: expected the names of two or more columns, got " +
                     in_quotes(line)};
  }
  std::vector<std::vector<double>> columns(names.size());
  for (size_t number = 2; std::getline(table, line); ++number) {
    const std::vector<std::string> cells = cells_in(line);
    const std::string where = name + ":" + std::to_string(number);
    if (cells.size() != names.size()) {
      throw UsageError{where + ": expected " + std::to_string(names.size()) + " cells, got " +
                       std::to_string(cells.size())};
    }
    for (size_t i = 0; i < cells.size(); ++i) columns[i].push_back(number_in(cells[i], where));
  }
  std::string text =
      "arm,pairs,mean_baseline,difference,low,high,percent,percent_low,percent_high,scale,verdict,"
      "correlation\n";
  for (size_t i = 1; i < columns.size(); ++i) {
    std::vector<double> arm, baseline;
    for (size_t k = 0; k < columns[i].size(); ++k) {
      if (std::isnan(columns[i][k]) || std::isnan(columns[0][k])) continue;
      arm.push_back(columns[i][k]);
      baseline.push_back(columns[0][k]);
    }
    text += row_of(names[i], paired_difference(arm, baseline, Scale::LogRatio, options));
  }
  return text;
}

}  // namespace orrery
