#include "sim/cli/study/study_findings.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace orrery {
namespace {

struct Figure {
  const SummaryValue* first = nullptr;  // value, unit and doc in the first run that has the metric
  StudyValues values = {};
};

std::vector<Figure> figures_in(const std::vector<StudyRunResult>& results) {
  std::vector<Figure> figures;
  std::map<std::string_view, size_t> numbers;
  for (const StudyRunResult& result : results) {
    if (!result.is_ok) continue;
    for (const SummaryValue& value : result.summary) {
      const auto [at, is_new] = numbers.try_emplace(value.name, figures.size());
      if (is_new) figures.push_back({.first = &value});
      figures[at->second].values[{result.cell, result.seed}] = as_double(value);
    }
  }
  return figures;
}

bool varies(const StudyValues& values) {
  return std::ranges::any_of(
      values, [&](const auto& value) { return value.second != values.begin()->second; });
}

// Whether the metric covers only jobs that started, or only jobs that ended. If two arms differ in
// these jobs, the comparison of the arms is biased.
bool is_of_survivors(const std::string& metric) {
  return metric.starts_with("jct_") || metric.starts_with("wait_") ||
         metric.starts_with("bounded_slowdown_");
}

std::optional<Doubt> doubt_of_survivors(const StudyValues& completed, size_t cell,
                                        size_t baseline) {
  constexpr double kAlike = 0.01;
  const StudyPairs jobs = pairs_of(completed, cell, baseline);
  const double own = mean_of(jobs.arm), other = mean_of(jobs.baseline);
  if (std::abs(own - other) <= kAlike * std::max(own, other)) return {};
  return Doubt{DoubtKind::OtherJobs, "covers other jobs than the baseline: " + short_text(own) +
                                         " jobs completed here, " + short_text(other) +
                                         " in the baseline"};
}

// Limits the interval of a mean: to at least 0 if no value is negative, and to at most 1 if the
// values are shares of at most 1.
Interval within(Interval interval, const std::vector<double>& values, const SummaryValue& figure) {
  const bool is_share = figure.unit.empty() && figure.name.find("share") != std::string::npos;
  if (std::ranges::min(values) >= 0) interval.low = std::max(interval.low, 0.0);
  if (is_share && std::ranges::max(values) <= 1) interval.high = std::min(interval.high, 1.0);
  return interval;
}

StudyLine line_of(const StudyPlan& plan, const Figure& figure, size_t cell) {
  StudyLine line{.cell = cell, .label = plan.label_of(cell)};
  const std::vector<double> own = pairs_of(figure.values, cell, cell).arm;
  const IntervalOptions options = interval_options(plan);
  line.seeds = own.size();
  line.interval = interval_of_mean(own, options);
  if (own.empty()) {
    line.mean = line.least = line.most = std::numeric_limits<double>::quiet_NaN();
    return line;
  }
  line.mean = mean_of(own);
  std::tie(line.least, line.most) = std::pair{std::ranges::min(own), std::ranges::max(own)};
  if (line.interval.is_known()) line.interval = within(line.interval, own, *figure.first);
  const std::optional<size_t> baseline = plan.baseline_of(cell);
  if (!baseline || *baseline == cell) return line;
  const StudyPairs pairs = pairs_of(figure.values, cell, *baseline);
  if (pairs.arm.empty()) return line;
  line.baseline = *baseline;
  line.paired = paired_difference(pairs.arm, pairs.baseline, scale_of(*figure.first), options);
  line.doubts = doubts(*line.paired, options.estimator);
  return line;
}

}  // namespace

IntervalOptions interval_options(const StudyPlan& plan) {
  const auto& compare = plan.params().compare;
  if (!compare) return {};
  return {.confidence = compare->confidence, .estimator = compare->estimator};
}

Scale scale_of(const SummaryValue& figure) {
  const bool is_count = std::holds_alternative<int64_t>(figure.value);
  return is_count || !figure.unit.empty() ? Scale::LogRatio : Scale::Difference;
}

std::vector<StudyMetric> findings(const StudyPlan& plan,
                                  const std::vector<StudyRunResult>& results) {
  const std::vector<Figure> figures = figures_in(results);
  const StudyValues completed = values_of(results, "jobs_completed");
  const std::vector<std::string>& asked = plan.params().metrics;
  std::vector<StudyMetric> metrics;
  for (const Figure& figure : figures) {
    const SummaryValue& first = *figure.first;
    const bool is_asked = std::ranges::find(asked, first.name) != asked.end();
    StudyMetric& metric = metrics.emplace_back(
        StudyMetric{.name = first.name,
                    .unit = first.unit,
                    .doc = first.doc,
                    .is_reported = asked.empty() ? varies(figure.values) : is_asked});
    for (size_t cell = 0; cell < plan.cells(); ++cell) {
      StudyLine& line = metric.lines.emplace_back(line_of(plan, figure, cell));
      if (!line.paired || !is_of_survivors(metric.name)) continue;
      const auto doubt = doubt_of_survivors(completed, cell, line.baseline);
      if (doubt) line.doubts.push_back(*doubt);
    }
  }
  const auto place = [&](const StudyMetric& metric) {
    return std::pair{!metric.is_reported, std::ranges::find(asked, metric.name) - asked.begin()};
  };
  std::ranges::stable_sort(metrics, {}, place);
  return metrics;
}

double half_asked(const StudyPlan& plan) {
  const StudyStopParams& until = *plan.params().until;
  return until.half_width_absolute.value_or(until.half_width);
}

double widest_half(const StudyPlan& plan, const std::vector<StudyRunResult>& results) {
  constexpr double kUnknown = std::numeric_limits<double>::infinity();
  constexpr size_t kSeedsMin = 3;  // two values may be equal by chance, which gives width 0
  const StudyStopParams& until = *plan.params().until;
  const bool is_absolute = until.half_width_absolute.has_value();
  double widest = 0;
  for (const Figure& figure : figures_in(results)) {
    if (figure.first->name != until.metric) continue;
    for (size_t cell = 0; cell < plan.cells(); ++cell) {
      if (plan.baseline_of(cell) == cell) continue;
      const StudyLine line = line_of(plan, figure, cell);
      const bool is_compared = line.paired.has_value();
      if ((is_compared ? line.paired->pairs : line.seeds) < kSeedsMin) return kUnknown;
      const Interval& interval = is_compared ? line.paired->difference.interval : line.interval;
      const double half = is_absolute   ? interval.half()
                          : is_compared ? line.paired->relative_half()
                                        : std::abs(interval.half() / line.mean);
      const bool is_exact = interval.half() == 0;
      widest = std::max(widest, is_exact ? 0 : std::isnan(half) ? kUnknown : half);
    }
  }
  return widest;
}

}  // namespace orrery
