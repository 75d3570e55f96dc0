#include "sim/cli/study/study_report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace orrery {
namespace {

std::string text_of(double low, double high) {
  return std::isnan(low) ? "–" : "[" + short_text(low) + ", " + short_text(high) + "]";
}

// "12.5 [10.1, 14.9]"; without an interval the value alone.
std::string text_of(double value, const Interval& interval) {
  return short_text(value) +
         (interval.is_known() ? " " + text_of(interval.low, interval.high) : "");
}

std::string percent(const PairedDifference& paired) {
  const auto [mean, interval] = paired.percent();
  if (std::isnan(mean)) return "–";
  char text[80];
  std::snprintf(text, sizeof text, "%+.2f %%", mean);
  if (!interval.is_known()) return text;
  char ends[80];
  std::snprintf(ends, sizeof ends, " [%+.2f, %+.2f]", interval.low, interval.high);
  return std::string{text} + ends;
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

// Escapes the characters that have a meaning in the format.
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

struct TableOptions {
  bool compares = false, has_band = false;
  ReportFormat format = ReportFormat::Markdown;
};

std::vector<std::string> cells_of(const StudyLine& line, const TableOptions& options) {
  std::vector<std::string> cells{line.label, std::to_string(line.seeds),
                                 text_of(line.mean, line.interval)};
  if (options.has_band) cells.push_back(text_of(line.least, line.most));
  if (options.compares && line.paired) {
    const PairedDifference& paired = *line.paired;
    cells.insert(cells.end(),
                 {text_of(paired.difference.mean, paired.difference.interval), percent(paired),
                  std::string{name_of(paired.verdict())}, short_text(paired.correlation)});
  } else if (options.compares) {
    cells.insert(cells.end(), {"baseline", "", "", ""});
  }
  for (std::string& cell : cells) cell = escaped(cell, options.format);
  return cells;
}

std::string table_of(const StudyMetric& metric, const TableOptions& options) {
  std::vector<std::string> head{"cell", "seeds", "mean"};
  if (options.has_band) head.emplace_back("band");
  if (options.compares) {
    head.insert(head.end(), {"difference", "in percent", "verdict", "correlation"});
  }
  const ReportFormat format = options.format;
  for (std::string& title : head) title = escaped(title, format);
  std::string text;
  const std::string columns = "l" + std::string(head.size() - 1, 'r');
  if (format == ReportFormat::Latex) {
    text += "\\begin{tabular}{" + columns + "}\n\\hline\n" + row(head, format) + "\\hline\n";
  } else {
    text += row(head, format) + "|---" +
            joined(std::vector<std::string>(head.size() - 1, "|--:"), "") + "|\n";
  }
  for (const StudyLine& line : metric.lines) text += row(cells_of(line, options), format);
  return format == ReportFormat::Latex ? text + "\\hline\n\\end{tabular}\n" : text;
}

std::string csv_row(const StudyMetric& metric, const StudyLine& line) {
  const auto ends = [](const Interval& interval) {
    return exact_text(interval.low) + "," + exact_text(interval.high);
  };
  std::vector<std::string> cells{metric.name,
                                 metric.unit,
                                 quoted(line.label),
                                 std::to_string(line.seeds),
                                 exact_text(line.mean),
                                 ends(line.interval),
                                 exact_text(line.least),
                                 exact_text(line.most)};
  if (line.paired) {
    const auto& [mean, interval] = line.paired->difference;
    const Estimate percent = line.paired->percent();
    cells.insert(cells.end(), {exact_text(mean), ends(interval), exact_text(percent.mean),
                               ends(percent.interval), std::string{name_of(line.paired->scale)},
                               std::string{name_of(line.paired->verdict())},
                               exact_text(line.paired->correlation)});
  } else {
    cells.emplace_back(",,,,,,,,");
  }
  std::vector<std::string> texts;
  for (const Doubt& doubt : line.doubts) texts.push_back(doubt.text);
  cells.push_back(quoted(joined(texts, "; ")));
  return joined(cells, ",") + "\n";
}

// Columns have the same names as in study.h5, except these: `mean_low` and `mean_high` are `low`
// and `high` of /means, and `doubts` joins the texts of /doubts.
std::string csv(const std::vector<StudyMetric>& metrics) {
  std::string text =
      "metric,unit,cell,seeds,mean,mean_low,mean_high,min,max,difference,low,high,percent,"
      "percent_low,percent_high,scale,verdict,correlation,doubts\n";
  for (const StudyMetric& metric : metrics) {
    if (!metric.is_reported) continue;
    for (const StudyLine& line : metric.lines) text += csv_row(metric, line);
  }
  return text;
}

}  // namespace

std::string report_text(const StudyPlan& plan, const std::vector<StudyMetric>& metrics,
                        ReportFormat format) {
  if (format == ReportFormat::Csv) return csv(metrics);
  const TableOptions options{.compares = plan.params().compare.has_value(),
                             .has_band = plan.params().seeds.permute_ties,
                             .format = format};
  std::string text;
  for (const StudyMetric& metric : metrics) {
    if (!metric.is_reported) continue;
    const std::string unit = metric.unit.empty() ? "" : " (" + metric.unit + ")";
    const std::string title = metric.name + unit + ": " + metric.doc;
    text += format == ReportFormat::Latex ? "% " + title + "\n" : "## " + title + "\n\n";
    text += table_of(metric, options) + "\n";
    for (const StudyLine& line : metric.lines) {
      for (const Doubt& doubt : line.doubts) {
        text +=
            (format == ReportFormat::Latex ? "% " : "- ") + line.label + ": " + doubt.text + "\n";
      }
    }
    if (text.back() != '\n' || !text.ends_with("\n\n")) text += '\n';
  }
  return text;
}

}  // namespace orrery
