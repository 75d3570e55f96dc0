#include "sim/cli/study/study_report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace orrery {
namespace {

constexpr double kConfidence = 0.95;  // where the study compares nothing
constexpr uint64_t kBootstrapSeed = 1;

std::string text_of(double value) {
  if (std::isnan(value)) return "–";
  char text[40];
  std::snprintf(text, sizeof text, "%.5g", value);
  return text;
}

std::string exact(double value) {
  if (std::isnan(value)) return "";
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

std::string with_half(double value, double half) {
  return std::isnan(half) ? text_of(value) : text_of(value) + " ± " + text_of(half);
}

std::string text_of(const Interval& interval) {
  if (std::isnan(interval.low)) return "–";
  return "[" + text_of(interval.low) + ", " + text_of(interval.high) + "]";
}

std::string percent(const PairedDifference& paired) {
  if (paired.baseline == 0) return "";
  char text[40];
  std::snprintf(text, sizeof text, "%+.2f %%", 100 * paired.relative());
  return text;
}

bool varies(const StudyValues& values) {
  return std::ranges::any_of(
      values, [&](const auto& value) { return value.second != values.begin()->second; });
}

// Means over jobs that came to their end say little where arms bring other jobs there.
bool is_of_survivors(const std::string& metric) {
  return metric.starts_with("jct_") || metric.starts_with("wait_") ||
         metric.starts_with("bounded_slowdown_");
}

std::optional<std::string> doubt_of_survivors(const StudyValues& completed, size_t cell,
                                              size_t baseline) {
  constexpr double kAlike = 0.01;
  const StudyPairs jobs = pairs_of(completed, cell, baseline);
  const double own = mean_of(jobs.arm), other = mean_of(jobs.baseline);
  if (std::abs(own - other) <= kAlike * std::max(own, other)) return {};
  return "is of other jobs: " + text_of(own) + " completed, " + text_of(other) +
         " of the baseline, and those that did not are left out";
}

StudyLine line_of(const StudyPlan& plan, const StudyValues& values, size_t cell) {
  StudyLine line{.label = plan.label_of(cell), .interval = {}, .paired = {}, .doubts = {}};
  const std::vector<double> own = pairs_of(values, cell, cell).arm;
  const auto& compare = plan.params().compare;
  const double confidence = compare ? compare->confidence : kConfidence;
  line.seeds = own.size();
  line.mean = own.empty() ? std::nan("") : mean_of(own);
  if (own.size() >= 2) line.interval = t_interval(own, confidence);
  const std::optional<size_t> baseline = plan.baseline_of(cell);
  if (!baseline || *baseline == cell) return line;
  const StudyPairs pairs = pairs_of(values, cell, *baseline);
  if (pairs.arm.empty()) return line;
  line.paired = paired_difference(pairs.arm, pairs.baseline, confidence, kBootstrapSeed);
  line.doubts = doubts(*line.paired);
  return line;
}

std::string joined(const std::vector<std::string>& parts, std::string_view between) {
  std::string text;
  for (const std::string& part : parts) {
    if (!text.empty()) text += between;
    text += part;
  }
  return text;
}

std::string row(const std::vector<std::string>& cells, ReportFormat format) {
  if (format == ReportFormat::Latex) return joined(cells, " & ") + " \\\\\n";
  return "| " + joined(cells, " | ") + " |\n";
}

// What has a meaning of its own in the format.
std::string escaped(const std::string& text, ReportFormat format) {
  std::string safe;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (format != ReportFormat::Latex) {
      if (c == '|') safe += '\\';
      safe += c;
    } else if (text.compare(i, 2, "±") == 0) {
      safe += "$\\pm$";
      ++i;
    } else if (text.compare(i, 3, "–") == 0) {
      safe += "--";
      i += 2;
    } else if (c == '\\' || c == '~' || c == '^') {
      safe += c == '\\'  ? "\\textbackslash{}"
              : c == '~' ? "\\textasciitilde{}"
                         : "\\textasciicircum{}";
    } else {
      if (std::string_view{"_%&#${}"}.find(c) != std::string_view::npos) safe += '\\';
      safe += c;
    }
  }
  return safe;
}

std::string quoted(const std::string& text) {
  std::string safe = "\"";
  for (const char c : text) {
    if (c == '"') safe += '"';
    safe += c;
  }
  return safe + '"';
}

std::string table_of(const StudyMetric& metric, bool compares, ReportFormat format) {
  std::vector<std::string> head{"cell", "seeds", "mean"};
  if (compares) head.insert(head.end(), {"difference", "of baseline", "bootstrap", "correlation"});
  std::string text;
  const std::string columns = "l" + std::string(head.size() - 1, 'r');
  if (format == ReportFormat::Latex) {
    text += "\\begin{tabular}{" + columns + "}\n\\hline\n" + row(head, format) + "\\hline\n";
  } else {
    text += row(head, format) + "|---" +
            joined(std::vector<std::string>(head.size() - 1, "|--:"), "") + "|\n";
  }
  for (const StudyLine& line : metric.lines) {
    std::vector<std::string> cells{
        line.label, std::to_string(line.seeds),
        line.interval ? with_half(line.mean, line.interval->half()) : text_of(line.mean)};
    if (compares && line.paired) {
      const PairedDifference& paired = *line.paired;
      cells.insert(cells.end(), {with_half(paired.difference, paired.t.half()), percent(paired),
                                 text_of(paired.bootstrap), text_of(paired.correlation)});
    } else if (compares) {
      cells.insert(cells.end(), {"baseline", "", "", ""});
    }
    for (std::string& cell : cells) cell = escaped(cell, format);
    text += row(cells, format);
  }
  return format == ReportFormat::Latex ? text + "\\hline\n\\end{tabular}\n" : text;
}

std::string csv(const std::vector<StudyMetric>& metrics) {
  std::string text =
      "metric,unit,cell,seeds,mean,low,high,difference,t_low,t_high,bootstrap_low,bootstrap_high,"
      "correlation,doubts\n";
  for (const StudyMetric& metric : metrics) {
    for (const StudyLine& line : metric.lines) {
      std::vector<std::string> cells{metric.name, metric.unit, quoted(line.label),
                                     std::to_string(line.seeds), exact(line.mean)};
      const auto add = [&](std::optional<Interval> interval) {
        cells.push_back(interval ? exact(interval->low) : "");
        cells.push_back(interval ? exact(interval->high) : "");
      };
      add(line.interval);
      cells.push_back(line.paired ? exact(line.paired->difference) : "");
      add(line.paired ? std::optional{line.paired->t} : std::nullopt);
      add(line.paired ? std::optional{line.paired->bootstrap} : std::nullopt);
      cells.push_back(line.paired ? exact(line.paired->correlation) : "");
      cells.push_back(quoted(joined(line.doubts, "; ")));
      text += joined(cells, ",") + "\n";
    }
  }
  return text;
}

}  // namespace

std::vector<StudyMetric> metrics_found(const StudyPlan& plan,
                                       const std::vector<StudyRunResult>& results) {
  std::vector<StudyMetric> metrics;
  const std::vector<std::string>& asked = plan.params().metrics;
  const StudyValues completed = values_of(results, "jobs_completed");
  for (const std::string& name : asked.empty() ? metrics_of(results) : asked) {
    const StudyValues values = values_of(results, name);
    if (values.empty() || (asked.empty() && !varies(values))) continue;
    StudyMetric metric{.name = name, .unit = {}, .doc = {}, .lines = {}};
    for (const StudyRunResult& result : results) {
      const auto found = std::ranges::find(result.summary, name, &SummaryValue::name);
      if (found == result.summary.end()) continue;
      metric.unit = found->unit;
      metric.doc = found->doc;
      break;
    }
    for (size_t cell = 0; cell < plan.cells(); ++cell) {
      StudyLine& line = metric.lines.emplace_back(line_of(plan, values, cell));
      if (!line.paired || !is_of_survivors(name)) continue;
      const auto doubt = doubt_of_survivors(completed, cell, *plan.baseline_of(cell));
      if (doubt) line.doubts.push_back(*doubt);
    }
    metrics.push_back(std::move(metric));
  }
  return metrics;
}

std::vector<std::string> unknown_metrics(const StudyPlan& plan,
                                         const std::vector<StudyRunResult>& results) {
  std::vector<std::string> messages;
  const std::vector<std::string> known = metrics_of(results);
  const std::vector<std::string>& asked = plan.params().metrics;
  for (size_t i = 0; i < asked.size() && !known.empty(); ++i) {
    if (std::ranges::find(known, asked[i]) != known.end()) continue;
    messages.push_back(to_string(plan.position_of_metric(i)) + ": metrics[" + std::to_string(i) +
                       "]: no run has a figure called " + in_quotes(asked[i]) +
                       did_you_mean(asked[i], known));
  }
  if (const auto& until = plan.params().until; until && !known.empty()) {
    if (std::ranges::find(known, until->metric) == known.end()) {
      messages.push_back(plan.path() + ": until.metric: no run has a figure called " +
                         in_quotes(until->metric) + did_you_mean(until->metric, known) +
                         ", so no seeds were added");
    }
  }
  return messages;
}

std::string doubts_text(const std::vector<StudyMetric>& metrics) {
  std::string text;
  for (const StudyMetric& metric : metrics) {
    for (const StudyLine& line : metric.lines) {
      for (const std::string& doubt : line.doubts) {
        text += metric.name + ", " + line.label + ": " + doubt + "\n";
      }
    }
  }
  return text;
}

std::string report_text(const StudyPlan& plan, const std::vector<StudyMetric>& metrics,
                        ReportFormat format) {
  if (format == ReportFormat::Csv) return csv(metrics);
  const auto& compare = plan.params().compare;
  std::string text;
  for (const StudyMetric& metric : metrics) {
    const std::string unit = metric.unit.empty() ? "" : " (" + metric.unit + ")";
    const std::string title = metric.name + unit + ": " + metric.doc;
    text += format == ReportFormat::Latex ? "% " + title + "\n" : "## " + title + "\n\n";
    text += table_of(metric, compare.has_value(), format) + "\n";
    for (const StudyLine& line : metric.lines) {
      for (const std::string& doubt : line.doubts) {
        text += (format == ReportFormat::Latex ? "% " : "- ") + line.label + ": " + doubt + "\n";
      }
    }
    if (text.back() != '\n' || !text.ends_with("\n\n")) text += '\n';
  }
  return text;
}

}  // namespace orrery
