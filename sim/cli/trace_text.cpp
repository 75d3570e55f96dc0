#include "sim/cli/trace_text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <set>
#include <span>

#include "models/workload/traces/tables/distinct_counter.hpp"
#include "sim/cli/progress.hpp"

namespace orrery {
namespace {

using Distribution = TraceStatistics::Distribution;

constexpr size_t kBins = 20;
constexpr size_t kBarWidth = 50;

std::string number(double value) {
  if (value >= 1e6) return format_count(static_cast<uint64_t>(value + 0.5));
  std::array<char, 64> text{};
  const int decimals = value == std::floor(value) ? 0 : value < 10 ? 3 : value < 1000 ? 2 : 1;
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return text.data();
}

std::string count(int64_t value) { return format_count(static_cast<uint64_t>(value)); }

std::string padded(const std::string& text, size_t width) {
  return text.size() >= width ? text + " " : text + std::string(width - text.size(), ' ');
}

std::string right(const std::string& text, size_t width) {
  return text.size() >= width ? " " + text : std::string(width - text.size(), ' ') + text;
}

std::string line(const std::string& name, const std::string& value) {
  return "  " + padded(name, 22) + value + "\n";
}

std::string percent(double part, double whole) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f %%", whole > 0 ? 100 * part / whole : 0);
  return text.data();
}

std::string distribution_row(const std::string& name, const Distribution& values) {
  if (values.count == 0) return "";
  std::string text =
      "  " + padded(name, 22) + right(count(values.count), 11) + right(number(values.mean), 12);
  for (const double value : values.at) text += right(number(value), 12);
  return text + "\n";
}

std::string distribution_head(const char* of = "jobs") {
  std::string text = "\n" + std::string(24, ' ') + right(of, 11);
  for (const char* name : {"mean", "least", "25 %", "median", "75 %", "90 %", "99 %", "most"}) {
    text += right(name, 12);
  }
  return text + "\n";
}

std::string bar(int64_t value, int64_t most) {
  const auto width =
      static_cast<size_t>(value) * kBarWidth / static_cast<size_t>(std::max<int64_t>(most, 1));
  return std::string(width, '#');
}

std::string histogram(std::span<const int64_t> counts, double unit, const std::string& title) {
  const int64_t most = *std::max_element(counts.begin(), counts.end());
  std::string text = "\n" + title + "\n";
  for (size_t i = 0; i < counts.size(); ++i) {
    text += "  " + right(number(std::round(unit * static_cast<double>(i) * 100) / 100), 8) +
            right(count(counts[i]), 11) + "  " + bar(counts[i], most) + "\n";
  }
  return text;
}

std::string status_rows(const TraceStatistics& statistics) {
  const double gpu_seconds = statistics.gpu_seconds();
  const double core_seconds = statistics.core_seconds();
  std::string text;
  for (size_t i = 0; i < statistics.statuses().size(); ++i) {
    const auto& share = statistics.statuses()[i];
    if (share.jobs == 0) continue;
    text +=
        "  " + padded(std::string{enum_names(TraceStatus{})[i]}, 22) +
        right(count(share.jobs), 11) +
        right(percent(static_cast<double>(share.jobs), static_cast<double>(statistics.jobs())), 12);
    if (gpu_seconds > 0) text += right(percent(share.gpu_seconds, gpu_seconds), 14);
    if (core_seconds > 0) text += right(percent(share.core_seconds, core_seconds), 15);
    text += "\n";
  }
  if (text.empty()) return text;
  return "\n" + padded("How they ended", 24) + right("jobs", 11) + right("of jobs", 12) +
         (gpu_seconds > 0 ? right("of GPU-time", 14) : "") +
         (core_seconds > 0 ? right("of core-time", 15) : "") + "\n" + text;
}

std::string left_by_filters(const TraceCounts& counts) {
  std::string text;
  const auto add = [&](int64_t rows, const char* why) {
    if (rows > 0) text += line(count(rows) + " rows", why);
  };
  add(counts.outside_window, "outside the window");
  add(counts.other_queue, "of other queues");
  add(counts.without_gpus, "without GPUs");
  add(counts.never_started, "never started");
  add(counts.other_size, "of other sizes");
  add(counts.other_status, "with other ends");
  return text.empty() ? text : "\nLeft out by the filters\n" + text;
}

std::string left_by_filters(const RequestCounts& counts) {
  std::string text;
  const auto add = [&](int64_t rows, const char* why) {
    if (rows > 0) text += line(count(rows) + " rows", why);
  };
  add(counts.outside_window, "outside the window");
  add(counts.other_group, "of other groups");
  add(counts.other_status, "with other ends");
  return text.empty() ? text : "\nLeft out by the filters\n" + text;
}

Distribution described(std::vector<double> values) {
  Distribution out;
  out.count = static_cast<int64_t>(values.size());
  if (values.empty()) return out;
  std::sort(values.begin(), values.end());
  for (const double value : values) out.mean += value / static_cast<double>(values.size());
  for (size_t i = 0; i < out.at.size(); ++i) {
    const double rank =
        std::ceil(TraceStatistics::kQuantiles[i] * static_cast<double>(values.size()));
    out.at[i] = values[static_cast<size_t>(std::max(rank, 1.0)) - 1];
  }
  return out;
}

}  // namespace

std::string notes_text(const std::vector<TraceNote>& notes) {
  std::string text;
  for (const TraceNote& note : notes) {
    text += line(
        count(note.rows) + " rows",
        note.what +
            (note.first_row > 0 ? " (first: row " + std::to_string(note.first_row) + ")" : ""));
  }
  return text;
}

std::string layout_text(const TraceReader& reader, bool is_guessed) {
  std::string text = line("format", std::string{name_of(reader.format())});
  const TraceColumnUse columns = reader.columns();
  if (is_guessed && !columns.read.empty()) text += line("  guessed from", "the names of columns");
  const auto add = [&](const char* what, const std::vector<std::string>& names) {
    std::string list;
    for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
    if (!names.empty()) text += line(what, list);
  };
  add("  columns read", columns.read);
  add("  passed over", columns.passed_over);
  return text;
}

std::string trace_text(const TraceReader& reader, const TraceStatistics& statistics,
                       bool has_durations, bool is_guessed) {
  const auto& s = statistics;
  const double span = (s.last_submit() - s.first_submit()).seconds();
  std::string text = layout_text(reader, is_guessed);
  const TraceCounts counts = reader.counts();
  const std::string joined = ", of them " + count(counts.joined) + " further events of a job";
  text += line("rows", count(counts.rows) + (counts.joined > 0 ? joined : ""));
  text += line("jobs", count(s.jobs()));
  text += line("  with GPUs", count(s.gpu_jobs()));
  const auto names = [&](const char* what, size_t found) {
    if (found > 0) text += line(what, count(static_cast<int64_t>(found)));
  };
  names("users", s.users());
  names("groups", s.groups());
  names("queues", s.queues());
  names("applications", s.applications());
  const auto unused = [&](const char* what, int64_t jobs) {
    if (jobs > 0) text += line(what, count(jobs) + " jobs; kept, but a replay ignores them");
  };
  unused("deadlines", s.with_deadline());
  unused("wait for others", s.chained());
  text += line("span", number(span / 86'400) + " d from the first to the last submission");
  if (span > 0) {
    text += line("rate", number(static_cast<double>(s.jobs()) / span * 3600) + " jobs/h");
    if (s.gpu_seconds() > 0) {
      text += line("GPU-hours", number(s.gpu_seconds() / 3600) + ", " +
                                    number(s.gpu_seconds() / span) + " GPUs busy on average");
    }
    if (s.core_seconds() > 0) {
      text += line("core-hours", number(s.core_seconds() / 3600) + ", " +
                                     number(s.core_seconds() / span) + " cores busy on average");
    }
  }
  if (!has_durations)
    text += line("run time", "not in the trace: set default_duration for a replay");
  for (const auto& [key, value] : reader.facts()) text += line("it says: " + key, value);
  if (s.jobs() > 0) {
    text += distribution_head();
    if (has_durations) text += distribution_row("run time, s", s.durations());
    text += distribution_row("requested time, s", s.requested());
    text += distribution_row("recorded wait, s", s.waits());
    text += distribution_row("between arrivals, s", s.gaps());
    text += distribution_row("GPUs", s.gpus());
    text += distribution_row("cores, no GPU", s.cores());
    text += status_rows(s);
    const bool is_long = span > 2 * 86'400;
    const double unit = is_long ? 86'400 : span > 2 * 3600 ? 3600 : 60;
    text +=
        histogram(s.arrivals(kBins), span / unit / kBins,
                  std::string{"Arrivals from the first on, by "} + (is_long        ? "days"
                                                                    : unit == 3600 ? "hours"
                                                                                   : "minutes"));
    text += histogram(s.arrivals_by_hour(), 1, "Arrivals by hour of the day");
  }
  text += left_by_filters(counts);
  const std::string notes = notes_text(reader.notes());
  return text + "\nProblems\n" + (notes.empty() ? "  none\n" : notes);
}

std::string survivors_text(const TraceStatistics& statistics) {
  if (statistics.jobs() == 0) return "";
  return "\nReplay\n" +
         line("window_start", number(static_cast<double>(statistics.first_end().ns) / 1e9) +
                                  " s, when the first job ended: earlier ends are not recorded") +
         line("warm_start", count(statistics.before_first_end()) +
                                " jobs are under way at that time, with their remaining run time");
}

std::string request_text(RequestReader& reader) {
  std::vector<double> inputs, outputs, executions, steps, gaps;
  int64_t blocks = 0;
  traces::DistinctCounter unique_blocks;
  std::array<int64_t, enum_names(TraceStatus{}).size()> statuses{};
  std::set<std::string_view> groups, models;
  std::optional<Time> first;
  Time last;
  while (const RequestRow* row = reader.next()) {
    if (first) gaps.push_back((row->arrival - last).seconds());
    if (!first) first = row->arrival;
    last = row->arrival;
    inputs.push_back(static_cast<double>(row->input_tokens));
    outputs.push_back(static_cast<double>(row->output_tokens));
    if (row->execution.ns >= 0) executions.push_back(row->execution.seconds());
    if (row->kind == RequestKind::Image) {
      steps.push_back(static_cast<double>(int64_t{row->steps} * row->images));
    }
    blocks += static_cast<int64_t>(row->prefix_blocks.size());
    for (const int64_t block : row->prefix_blocks) unique_blocks.add(block);
    ++statuses[static_cast<size_t>(row->status)];
    if (!row->group.empty()) groups.insert(row->group);
    if (!row->model.empty()) models.insert(row->model);
  }
  std::string text = line("format", std::string{name_of(reader.format())} + " (requests)");
  text += line("requests", count(static_cast<int64_t>(inputs.size())));
  if (!groups.empty()) text += line("groups", count(static_cast<int64_t>(groups.size())));
  if (!models.empty()) text += line("models", count(static_cast<int64_t>(models.size())));
  const double span = first ? (last - *first).seconds() : 0;
  if (first) text += line("span", number(span) + " s");
  if (span > 0) {
    text += line("rate", number(static_cast<double>(inputs.size()) / span * 3600) + " requests/h");
  }
  if (blocks > 0) {
    text +=
        line("prompt blocks", count(blocks) + ", " + (unique_blocks.is_exact() ? "" : "about ") +
                                  percent(static_cast<double>(blocks - unique_blocks.count()),
                                          static_cast<double>(blocks)) +
                                  " of them seen before");
  }
  for (const auto& [key, value] : reader.facts()) text += line("it says: " + key, value);
  text += distribution_head("requests");
  text += distribution_row("between arrivals, s", described(std::move(gaps)));
  const bool is_image = !steps.empty();
  const auto add = [&](const char* what, std::vector<double>& values) {
    const bool has_values = std::ranges::any_of(values, [](double value) { return value > 0; });
    if (has_values) text += distribution_row(what, described(std::move(values)));
  };
  const size_t requests = inputs.size();
  add("input tokens", inputs);
  if (is_image) add("steps", steps);
  if (!is_image) add("output tokens", outputs);
  add("execution, s", executions);
  for (size_t i = 0; i < statuses.size(); ++i) {
    if (statuses[i] == 0 || statuses[i] == static_cast<int64_t>(requests)) continue;
    text += line(std::string{enum_names(TraceStatus{})[i]},
                 count(statuses[i]) + ", " +
                     percent(static_cast<double>(statuses[i]), static_cast<double>(requests)));
  }
  text += left_by_filters(reader.counts());
  const std::string notes = notes_text(reader.notes());
  return text + "\nProblems\n" + (notes.empty() ? "  none\n" : notes);
}

std::string failure_text(const FailureLog& log) {
  const double span = log.span.seconds();
  const auto nodes = static_cast<double>(log.nodes.size());
  const auto failures = static_cast<double>(log.outages.size());
  std::string text = line("format", std::string{name_of(log.format)} + " (failures)");
  text += line("rows", count(log.rows));
  text += line("failures", count(static_cast<int64_t>(log.outages.size())));
  text += line("nodes", count(static_cast<int64_t>(log.nodes.size())));
  text += line("span", number(span / 86'400) + " d");
  if (span > 0) {
    text += line("rate", number(failures / nodes / span * 86'400 * 1000) +
                             " failures per 1,000 node-days of the span");
  }
  std::vector<double> lengths;
  std::vector<double> struck(log.nodes.size());
  std::vector<int64_t> causes(log.causes.size());
  for (const Outage& outage : log.outages) {
    if (outage.length != Outage::kUnknown) lengths.push_back(outage.length.seconds());
    ++struck[outage.node];
    ++causes[outage.cause];
  }
  text += distribution_head("count");
  text += distribution_row("down, s", described(std::move(lengths)));
  text += distribution_row("failures of a node", described(std::move(struck)));
  text += "\n" + padded("Causes", 24) + right("failures", 11) + right("share", 12) + "\n";
  for (size_t i = 0; i < causes.size(); ++i) {
    text += "  " + padded(log.causes[i], 22) + right(count(causes[i]), 11) +
            right(percent(static_cast<double>(causes[i]), failures), 12) + "\n";
  }
  if (log.outside_window + log.other_causes > 0) text += "\nLeft out by the filters\n";
  if (log.outside_window > 0) text += line(count(log.outside_window), "outside the window");
  if (log.other_causes > 0) text += line(count(log.other_causes), "of other causes");
  const std::string notes = notes_text(log.notes);
  return text + "\nProblems\n" + (notes.empty() ? "  none\n" : notes);
}

// Text about a table of measurements: its rows, names, times and values, and its problems.
std::string series_text(const SeriesReport& series) {
  std::string text = line("format", std::string{name_of(series.format)} + " (measurements)");
  text += line("rows", count(series.rows));
  for (const SeriesReport::Names& names : series.names) {
    if (names.different == 0) continue;
    text += line(names.column,
                 (names.is_exact ? "" : "about ") + count(names.different) + " different");
  }
  if (series.first) {
    const double span = *series.last - *series.first;
    text += line("span", number(span / 86'400) + " d");
    if (span > 0) {
      text += line("rate", number(static_cast<double>(series.rows) / span * 3600) + " rows/h");
    }
  }
  std::string table;
  for (const SeriesReport::Values& values : series.values) {
    table += distribution_row(values.column, values.distribution);
  }
  if (!table.empty()) text += distribution_head("values") + table;
  if (series.is_rounded) text += "  (many values: rounded to 0.2 %)\n";
  const std::string notes = notes_text(series.notes);
  return text + "\nProblems\n" + (notes.empty() ? "  none\n" : notes);
}

}  // namespace orrery
