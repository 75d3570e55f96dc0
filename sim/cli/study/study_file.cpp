#include "sim/cli/study/study_file.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "models/scenario/scenario.hpp"
#include "sim/config/field_path.hpp"
#include "sim/record/channel.hpp"
#include "sim/record/hdf5_recorder.hpp"

namespace orrery {
namespace {

using MetricName = FixedText<48>;

struct StudyCellRow {
  uint32_t cell = 0;
  FixedText<48> axis, arm;
  bool is_baseline = false;

  static void columns(auto&& c) {
    c("cell", &StudyCellRow::cell, "index in the grid; the last axis varies fastest");
    c("axis", &StudyCellRow::axis, "name of the axis");
    c("arm", &StudyCellRow::arm, "arm of the axis in this cell");
    c("is_baseline", &StudyCellRow::is_baseline, "this arm is the baseline");
  }
};

struct StudyAxisRow {
  FixedText<48> axis;
  FixedText<96> parameter;
  FixedText<48> unit;
  FixedText<200> doc;

  static void columns(auto&& c) {
    c("axis", &StudyAxisRow::axis, "name of the axis");
    c("parameter", &StudyAxisRow::parameter,
      "the parameter that all its arms set; empty if they set none or several");
    c("unit", &StudyAxisRow::unit, "unit of the parameter; empty if the values contain units");
    c("doc", &StudyAxisRow::doc, "meaning of the parameter");
  }
};

struct StudyRunRow {
  uint32_t cell = 0;
  uint64_t seed = 0;
  bool is_ok = false;
  double wall_seconds = 0, cpu_seconds = 0;
  FixedText<128> label;

  static void columns(auto&& c) {
    c("cell", &StudyRunRow::cell, "as in /cells");
    c("seed", &StudyRunRow::seed, "run.seed");
    c("is_ok", &StudyRunRow::is_ok, "the run completed");
    c("wall_seconds", &StudyRunRow::wall_seconds, "host time; varies between invocations", "s");
    c("cpu_seconds", &StudyRunRow::cpu_seconds,
      "host CPU time; for an arm that forked, from the fork on", "s");
    c("label", &StudyRunRow::label, "axis=arm for each axis");
  }
};

struct StudyValueRow {
  uint32_t cell = 0;
  uint64_t seed = 0;
  FixedText<48> name;
  double value = 0;
  FixedText<24> unit;

  static void columns(auto&& c) {
    c("cell", &StudyValueRow::cell, "cell of the run");
    c("seed", &StudyValueRow::seed, "seed of the run");
    c("name", &StudyValueRow::name, "name of the figure in /summary");
    c("value", &StudyValueRow::value, "value in the run");
    c("unit", &StudyValueRow::unit, "unit of the value");
  }
};

struct StudyMetricRow {
  MetricName name;
  FixedText<24> unit;
  FixedText<160> doc;
  bool is_reported = false;

  static void columns(auto&& c) {
    c("name", &StudyMetricRow::name, "name of the figure in /summary");
    c("unit", &StudyMetricRow::unit, "unit of the metric's values");
    c("doc", &StudyMetricRow::doc, "meaning of the metric");
    c("is_reported", &StudyMetricRow::is_reported,
      "reports show the metric: it is in `metrics` of the study or, if that is empty, its values "
      "differ");
  }
};

struct StudyMeanRow {
  MetricName metric;
  uint32_t cell = 0, seeds = 0;
  double mean = 0, low = 0, high = 0, min = 0, max = 0;

  static void columns(auto&& c) {
    c("metric", &StudyMeanRow::metric, "as in /metrics; values are in the metric's unit");
    c("cell", &StudyMeanRow::cell, "as in /cells");
    c("seeds", &StudyMeanRow::seeds, "seeds with a value");
    c("mean", &StudyMeanRow::mean, "mean over these seeds");
    c("low", &StudyMeanRow::low,
      "lower end of the confidence interval of the mean; NaN with too few seeds");
    c("high", &StudyMeanRow::high, "upper end of this interval");
    c("min", &StudyMeanRow::min, "the least value of a seed");
    c("max", &StudyMeanRow::max, "the largest value of a seed");
  }
};

struct StudyDifferenceRow {
  MetricName metric;
  uint32_t cell = 0, baseline = 0, pairs = 0;
  Scale scale = Scale::Difference;
  Estimator estimator = Estimator::T;
  double mean_baseline = 0, difference = 0, low = 0, high = 0;
  double percent = 0, percent_low = 0, percent_high = 0;
  DifferenceVerdict verdict = DifferenceVerdict::Unclear;
  double correlation = 0;

  static void columns(auto&& c) {
    using Row = StudyDifferenceRow;
    c("metric", &Row::metric, "as in /metrics");
    c("cell", &Row::cell, "as in /cells");
    c("baseline", &Row::baseline, "the baseline's cell");
    c("pairs", &Row::pairs, "seeds that both cells have");
    c("scale", &Row::scale,
      "scale of the comparison: log ratios for times and counts, which must be positive");
    c("estimator", &Row::estimator, "method of the intervals");
    c("mean_baseline", &Row::mean_baseline, "the baseline's mean over the pairs");
    c("difference", &Row::difference,
      "mean over the pairs of the value minus the baseline's value");
    c("low", &Row::low,
      "lower end of the confidence interval of the difference; NaN with too few pairs");
    c("high", &Row::high, "upper end of this interval");
    c("percent", &Row::percent,
      "geometric mean of the ratio of value to baseline, minus 1; NaN if a value is not positive",
      "%");
    c("percent_low", &Row::percent_low, "lower end of the confidence interval of `percent`", "%");
    c("percent_high", &Row::percent_high, "upper end of this interval", "%");
    c("verdict", &Row::verdict,
      "decided by the interval on the scale in `scale`; equal: each pair has two equal values");
    c("correlation", &Row::correlation,
      "correlation of the two cells over the seeds; 0 if a cell does not vary");
  }
};

struct StudyDoubtRow {
  MetricName metric;
  uint32_t cell = 0;
  DoubtKind kind = DoubtKind::FewSeeds;
  FixedText<200> text;

  static void columns(auto&& c) {
    c("metric", &StudyDoubtRow::metric, "as in /metrics");
    c("cell", &StudyDoubtRow::cell, "as in /cells");
    c("kind", &StudyDoubtRow::kind, "kind of the remark");
    c("text", &StudyDoubtRow::text, "the remark");
  }
};

// The tables that hold the result of findings().
class FindingTables {
 public:
  explicit FindingTables(Recorder& recorder)
      : metrics_{recorder, "/metrics",
                 "one row for each metric; metrics that reports show come first"},
        means_{recorder, "/means", "one row for each metric of each cell"},
        differences_{recorder, "/differences",
                     "one row for each metric of each cell with a baseline"},
        doubts_{recorder, "/doubts", "one row for each remark on a metric of a cell"} {}

  void emit(const StudyMetric& metric, Estimator estimator) {
    const MetricName name{std::string_view{metric.name}};
    metrics_.emit({.name = name,
                   .unit = std::string_view{metric.unit},
                   .doc = std::string_view{metric.doc},
                   .is_reported = metric.is_reported});
    for (const StudyLine& line : metric.lines) {
      const auto cell = static_cast<uint32_t>(line.cell);
      means_.emit({.metric = name,
                   .cell = cell,
                   .seeds = static_cast<uint32_t>(line.seeds),
                   .mean = line.mean,
                   .low = line.interval.low,
                   .high = line.interval.high,
                   .min = line.least,
                   .max = line.most});
      if (line.paired) differences_.emit(row_of(name, line, estimator));
      for (const Doubt& doubt : line.doubts) {
        doubts_.emit({name, cell, doubt.kind, std::string_view{doubt.text}});
      }
    }
  }

 private:
  static StudyDifferenceRow row_of(const MetricName& name, const StudyLine& line,
                                   Estimator estimator) {
    const PairedDifference& paired = *line.paired;
    const Estimate percent = paired.percent();
    return {.metric = name,
            .cell = static_cast<uint32_t>(line.cell),
            .baseline = static_cast<uint32_t>(line.baseline),
            .pairs = static_cast<uint32_t>(paired.pairs),
            .scale = paired.scale,
            .estimator = estimator,
            .mean_baseline = paired.baseline,
            .difference = paired.difference.mean,
            .low = paired.difference.interval.low,
            .high = paired.difference.interval.high,
            .percent = percent.mean,
            .percent_low = percent.interval.low,
            .percent_high = percent.interval.high,
            .verdict = paired.verdict(),
            .correlation = paired.correlation};
  }

  Channel<StudyMetricRow> metrics_;
  Channel<StudyMeanRow> means_;
  Channel<StudyDifferenceRow> differences_;
  Channel<StudyDoubtRow> doubts_;
};

// The axis's parameter if given, else the only parameter that the arms set. Empty if the arms set
// several parameters, or if an arm sets none.
std::string parameter_of(const StudyAxisParams& axis) {
  if (!axis.parameter.empty()) return axis.parameter;
  std::string parameter;
  for (const StudyArmParams& arm : axis.arms) {
    if (arm.set.size() != 1) return {};
    const std::string& path = arm.set.begin()->first;
    if (!parameter.empty() && parameter != path) return {};
    parameter = path;
  }
  return parameter;
}

// faults.nodes[0].rate becomes faults.nodes.rate, the path of the parameter's description.
std::string without_places(const std::string& path) {
  std::string text;
  bool is_place = false;
  for (const char c : path) {
    is_place = c == '[' || (is_place && c != ']');
    if (!is_place && c != ']') text += c;
  }
  return text;
}

void emit_axes(Channel<StudyAxisRow>& axes, const StudyPlan& plan) {
  const FieldTree scenario = describe_scenario();
  for (const StudyAxisParams& axis : plan.params().axes) {
    const std::string parameter = parameter_of(axis);
    const FieldTree* const field =
        parameter.empty() ? nullptr : find_path(scenario, without_places(parameter));
    const bool has_unit = field != nullptr && field->shape != FieldShape::Quantity;
    axes.emit({.axis = std::string_view{axis.name},
               .parameter = std::string_view{parameter},
               .unit = std::string_view{has_unit ? field->unit : ""},
               .doc = std::string_view{field != nullptr ? field->doc : ""}});
  }
}

void emit_cells(Channel<StudyCellRow>& cells, const StudyPlan& plan) {
  const auto& compare = plan.params().compare;
  for (size_t cell = 0; cell < plan.cells(); ++cell) {
    const std::vector<size_t> arms = plan.arms_of(cell);
    for (size_t i = 0; i < arms.size(); ++i) {
      const StudyPlan::Axis& axis = plan.axes()[i];
      const std::string& arm = axis.arms[arms[i]];
      cells.emit({.cell = static_cast<uint32_t>(cell),
                  .axis = std::string_view{axis.name},
                  .arm = std::string_view{arm},
                  .is_baseline = compare && compare->axis == axis.name && compare->against == arm});
    }
  }
}

}  // namespace

void write_study(const std::string& path, const StudyPlan& plan,
                 const std::vector<StudyRunResult>& results,
                 const std::vector<StudyMetric>& metrics) {
  Hdf5Recorder recorder{{.path = path}};
  Channel<StudyAxisRow> axes{recorder, "/axes", "one row for each axis"};
  Channel<StudyCellRow> cells{recorder, "/cells", "one row for each axis of each cell"};
  Channel<StudyRunRow> runs{recorder, "/runs", "one row for each run"};
  Channel<StudyValueRow> values{recorder, "/values", "one row for each figure of each run"};
  FindingTables found{recorder};
  const IntervalOptions options = interval_options(plan);
  recorder.set_attribute("version", std::string{ORRERY_VERSION});
  recorder.set_attribute("confidence", options.confidence);
  recorder.set_attribute("estimator", std::string{name_of(options.estimator)});
  recorder.set_attribute("permute_ties", plan.params().seeds.permute_ties);
  recorder.write_text("/meta/study", plan.text());
  const size_t least = plan.cells() * static_cast<size_t>(plan.params().seeds.count);
  recorder.set_attribute("runs_missing", uint64_t{least - std::min(least, results.size())});
  recorder.start();
  emit_axes(axes, plan);
  emit_cells(cells, plan);
  for (const StudyRunResult& result : results) {
    const auto cell = static_cast<uint32_t>(result.cell);
    runs.emit({.cell = cell,
               .seed = result.seed,
               .is_ok = result.is_ok,
               .wall_seconds = result.wall_seconds,
               .cpu_seconds = result.cpu_seconds,
               .label = std::string_view{plan.label_of(result.cell)}});
    for (const SummaryValue& value : result.summary) {
      values.emit({.cell = cell,
                   .seed = result.seed,
                   .name = std::string_view{value.name},
                   .value = as_double(value),
                   .unit = std::string_view{value.unit}});
    }
  }
  for (const StudyMetric& metric : metrics) found.emit(metric, options.estimator);
  recorder.flush_all();
  recorder.finish({.complete = true, .simulated = {}});
}

}  // namespace orrery
