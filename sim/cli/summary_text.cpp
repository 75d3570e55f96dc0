#include "sim/cli/summary_text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

#include "sim/cli/progress.hpp"

namespace orrery {
namespace {

struct Row {
  std::string name, figure, doc;
};
struct Group {
  std::string_view title;
  std::vector<std::string_view> words;  // a figure whose name contains one of these is in the group
};

// A figure goes into the first matching group, so specific groups come first.
const std::array<Group, 6> kGroups{{
    {"Deadlocks", {"deadlock", "infeasible"}},
    {"Scheduler", {"sched", "attempt", "cycle", "queue", "bind", "pending", "permit"}},
    {"GPU use", {"gpu"}},
    {"Failures", {"fail", "fault", "recover", "repair", "lost", "restart", "down", "goodput"}},
    {"Jobs", {"job", "gang", "member", "pod", "jct", "wait", "slowdown", "makespan"}},
    {"Other", {""}},
}};
// The order of the groups on the screen.
constexpr std::array<std::string_view, 6> kOrder{"Jobs",      "GPU use",   "Failures",
                                                 "Deadlocks", "Scheduler", "Other"};

const Group& group_of(const std::string& name) {
  const auto has = [&](std::string_view word) { return name.find(word) != std::string::npos; };
  return *std::find_if(kGroups.begin(), kGroups.end() - 1, [&](const Group& group) {
    return std::any_of(group.words.begin(), group.words.end(), has);
  });
}

constexpr std::string_view kNone = "none";

std::string with_decimals(double value, int decimals) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return text.data();
}

std::string format_real(double value) {
  if (!std::isfinite(value)) return std::string{kNone};
  const double size = std::fabs(value);
  if (size >= 1e15) return with_decimals(value / 1e15, 3) + "e15";
  if (size < 1000) {
    return with_decimals(value, value == std::floor(value) ? 0 : (size < 0.1 ? 4 : 2));
  }
  const std::string sign = value < 0 ? "-" : "";
  return sign + format_count(static_cast<uint64_t>(size + 0.5));
}

bool is_share(const SummaryValue& value) {
  return value.unit.empty() && std::holds_alternative<double>(value.value) &&
         (value.name.find("share") != std::string::npos ||
          value.name.find("efficiency") != std::string::npos);
}

std::string_view end_text(SimulationResult::End end) {
  switch (end) {
    case SimulationResult::End::Done:
      return "complete";
    case SimulationResult::End::Stopped:
      return "stopped before its end";
    case SimulationResult::End::Stalled:
      return "ended early: nothing moved for run.stall_limit";
    case SimulationResult::End::Futile:
      return "ended early: only futile scheduling attempts were left (run.futile_attempts)";
    case SimulationResult::End::RecordFailed:
      return "the output could not be written";
    case SimulationResult::End::BadInput:
      return "the input could not be read";
  }
  return "";
}

std::vector<Row> run_rows(const SimulationResult& result) {
  const double rate =
      result.wall_seconds > 0 ? static_cast<double>(result.events) / result.wall_seconds : 0.0;
  std::array<char, 24> digest{};
  std::snprintf(digest.data(), digest.size(), "%016llx",
                static_cast<unsigned long long>(result.digest));
  return {{"end", std::string{end_text(result.end)}, ""},
          {"simulated", format_simulated(result.simulated), ""},
          {"host time", with_decimals(result.wall_seconds, 2) + " s", ""},
          {"events", format_count(result.events) + " (" + format_short(rate) + "/s)", ""},
          {"digest", digest.data(), ""}};
}

std::string group_text(std::string_view title, const std::vector<Row>& rows, size_t name_width,
                       size_t figure_width) {
  if (rows.empty()) return {};
  std::string text = std::string{title} + "\n";
  for (const Row& row : rows) {
    std::string line = "  " + row.name + std::string(name_width - row.name.size() + 2, ' ');
    if (row.doc.empty()) {
      line += row.figure;
    } else {
      line += std::string(figure_width - row.figure.size(), ' ');
      line += row.figure + "  " + row.doc;
    }
    text += line + "\n";
  }
  return text;
}

}  // namespace

std::string format_figure(const SummaryValue& value) {
  if (is_share(value)) return with_decimals(100 * std::get<double>(value.value), 2) + " %";
  std::string text;
  if (const auto* const whole = std::get_if<int64_t>(&value.value)) {
    const uint64_t size =
        *whole < 0 ? 0 - static_cast<uint64_t>(*whole) : static_cast<uint64_t>(*whole);
    text = (*whole < 0 ? "-" : "") + format_count(size);
  } else {
    text = format_real(std::get<double>(value.value));
  }
  return value.unit.empty() || text == kNone ? text : text + " " + value.unit;
}

std::string summary_text(const SimulationResult& result, const std::string& output_path) {
  size_t name_width = std::string_view{"simulated"}.size();
  size_t figure_width = 0;
  std::array<std::vector<Row>, kOrder.size()> groups;
  for (const SummaryValue& value : result.summary) {
    // Each gpu_s_ figure also exists as a share, which is easier to read.
    if (value.name.starts_with("gpu_s_")) continue;
    const auto* const place = std::find(kOrder.begin(), kOrder.end(), group_of(value.name).title);
    auto& rows = groups[static_cast<size_t>(place - kOrder.begin())];
    rows.push_back({value.name, format_figure(value), value.doc});
    name_width = std::max(name_width, rows.back().name.size());
    figure_width = std::max(figure_width, rows.back().figure.size());
  }
  std::string text = group_text("Run", run_rows(result), name_width, figure_width);
  for (size_t i = 0; i < kOrder.size(); ++i) {
    text += group_text(kOrder[i], groups[i], name_width, figure_width);
  }
  text += "Output\n  " + output_path + "\n";
  return text;
}

}  // namespace orrery
