#include "models/workload/traces/tables/series.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <span>
#include <utility>

#include "models/workload/traces/formats/detect.hpp"
#include "models/workload/traces/formats/format.hpp"
#include "models/workload/traces/tables/distinct_counter.hpp"
#include "models/workload/traces/tables/pai_tables.hpp"

namespace orrery {
namespace {

using namespace traces;

enum class Kind : uint8_t { Stamp, End, Name, Value };
struct SeriesColumn {
  std::string_view name;
  Kind kind = Kind::Value;
};
constexpr size_t kNameMax = 256;

constexpr SeriesColumn kGenAi[] = {{"timestamp_anon", Kind::Stamp},
                                   {"value", Kind::Value},
                                   {"container_ip", Kind::Name},
                                   {"request_type", Kind::Name}};
constexpr size_t kGenAiNeeded = 2;
constexpr SeriesColumn kSensors[] = {{"job_name", Kind::Name},
                                     {"task_name", Kind::Name},
                                     {"worker_name", Kind::Name},
                                     {"inst_id", Kind::Name},
                                     {"machine", Kind::Name},
                                     {"gpu_name", Kind::Name},
                                     {"cpu_usage"},
                                     {"gpu_wrk_util"},
                                     {"avg_mem"},
                                     {"max_mem"},
                                     {"avg_gpu_wrk_mem"},
                                     {"max_gpu_wrk_mem"},
                                     {"read"},
                                     {"write"},
                                     {"read_count"},
                                     {"write_count"}};
constexpr SeriesColumn kMachineMetrics[] = {
    {"worker_name", Kind::Name}, {"machine", Kind::Name}, {"start_time", Kind::Stamp},
    {"end_time", Kind::End},     {"machine_cpu_iowait"},  {"machine_cpu_kernel"},
    {"machine_cpu_usr"},         {"machine_gpu"},         {"machine_load_1"},
    {"machine_net_receive"},     {"machine_num_worker"},  {"machine_cpu"}};
constexpr SeriesColumn kMachines[] = {
    {"machine", Kind::Name}, {"gpu_type", Kind::Name}, {"cap_cpu"}, {"cap_mem"}, {"cap_gpu"}};
constexpr SeriesColumn kJobs[] = {{"job_name", Kind::Name},    {"inst_id", Kind::Name},
                                  {"user", Kind::Name},        {"status", Kind::Name},
                                  {"start_time", Kind::Stamp}, {"end_time", Kind::End}};
constexpr SeriesColumn kGroups[] = {{"inst_id", Kind::Name},
                                    {"user", Kind::Name},
                                    {"gpu_type_spec", Kind::Name},
                                    {"group", Kind::Name},
                                    {"workload", Kind::Name}};

constexpr SeriesColumn kOpenbNodes[] = {
    {"sn", Kind::Name}, {"cpu_milli"}, {"memory_mib"}, {"gpu"}, {"model", Kind::Name}};
constexpr SeriesColumn kSpotNodes[] = {
    {"gpu_model", Kind::Name}, {"gpu_capacity_num"}, {"cpu_num"}, {"node_name", Kind::Name}};

bool has_header(SeriesFormat format) {
  return format == SeriesFormat::GenAi || format == SeriesFormat::OpenbNodes ||
         format == SeriesFormat::SpotNodes;
}

std::span<const SeriesColumn> columns_of(SeriesFormat format) {
  switch (format) {
    case SeriesFormat::Auto:
      break;
    case SeriesFormat::GenAi:
      return kGenAi;
    case SeriesFormat::PaiSensors:
      return kSensors;
    case SeriesFormat::PaiMachineMetrics:
      return kMachineMetrics;
    case SeriesFormat::PaiMachines:
      return kMachines;
    case SeriesFormat::PaiJobs:
      return kJobs;
    case SeriesFormat::PaiGroups:
      return kGroups;
    case SeriesFormat::OpenbNodes:
      return kOpenbNodes;
    case SeriesFormat::SpotNodes:
      return kSpotNodes;
  }
  return {};
}

// Anonymised names of PAI are hashes: sixteen or more hexadecimal digits.
bool is_hash(std::string_view text) {
  return text.size() >= 16 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool are_numbers(std::span<const std::string_view> fields) {
  return std::ranges::all_of(
      fields, [](std::string_view field) { return field.empty() || parse_seconds(field); });
}

SeriesFormat format_of(std::string_view beginning) {
  const auto fields = first_fields(beginning, ',');
  const std::span all{fields};
  const auto has = [&](std::string_view name) {
    return std::ranges::find(fields, name) != fields.end();
  };
  const auto has_all = [&](std::span<const SeriesColumn> columns) {
    return std::ranges::all_of(columns, has, &SeriesColumn::name);
  };
  if (has_all(kOpenbNodes)) return SeriesFormat::OpenbNodes;
  if (has_all(kSpotNodes)) return SeriesFormat::SpotNodes;
  if (has("timestamp_anon") && has("value")) return SeriesFormat::GenAi;
  if (fields.size() == std::size(kSensors) && are_numbers(all.subspan(6))) {
    return SeriesFormat::PaiSensors;
  }
  if (fields.size() == std::size(kMachineMetrics) && are_numbers(all.subspan(2))) {
    return SeriesFormat::PaiMachineMetrics;
  }
  if (fields.size() == std::size(kJobs) && are_numbers(all.subspan(4)) &&
      std::ranges::find(kPaiStates, fields[3], &Word<TraceStatus>::text) != kPaiStates.end()) {
    return SeriesFormat::PaiJobs;
  }
  if (fields.size() != std::size(kMachines)) return SeriesFormat::Auto;
  if (!fields[2].empty() && are_numbers(all.subspan(2))) return SeriesFormat::PaiMachines;
  return is_hash(fields[0]) && is_hash(fields[1]) ? SeriesFormat::PaiGroups : SeriesFormat::Auto;
}

// Counts how often each value occurs. Beyond 100,000 different values, all values are rounded to
// nine significant bits.
class ValueCounts {
 public:
  static constexpr size_t kExactMax = 100'000;

  void add(double value) {
    sum_ += value;
    ++count_;
    ++seen_[is_rounded_ ? rounded(value) : value];
    if (!is_rounded_ && seen_.size() > kExactMax) round_all();
  }
  bool is_rounded() const { return is_rounded_; }
  TraceStatistics::Distribution distribution() const {
    TraceStatistics::Distribution out;
    out.count = count_;
    if (count_ == 0) return out;
    out.mean = sum_ / static_cast<double>(count_);
    size_t next = 0;
    int64_t below = 0;
    for (const auto& [value, times] : seen_) {
      below += times;
      for (; next < out.at.size() && static_cast<double>(below) >= rank(next); ++next) {
        out.at[next] = value;
      }
    }
    return out;
  }

 private:
  double rank(size_t quantile) const {
    return std::max(std::ceil(TraceStatistics::kQuantiles[quantile] * static_cast<double>(count_)),
                    1.0);
  }
  static double rounded(double value) {
    int exponent = 0;
    const double fraction = std::frexp(value, &exponent);
    return std::ldexp(std::round(std::ldexp(fraction, 9)), exponent - 9);
  }
  void round_all() {
    is_rounded_ = true;
    std::map<double, int64_t> coarse;
    for (const auto& [value, times] : seen_) coarse[rounded(value)] += times;
    seen_ = std::move(coarse);
  }

  std::map<double, int64_t> seen_;
  double sum_ = 0;
  int64_t count_ = 0;
  bool is_rounded_ = false;
};

class SeriesTable {
 public:
  SeriesTable(SeriesFormat format, TextSource source, bool is_lenient)
      : findings_{{.file = source.name(), .is_lenient = is_lenient}}, format_{format} {
    std::vector<std::string_view> names;
    for (const SeriesColumn& column : columns_of(format)) names.push_back(column.name);
    if (has_header(format)) {
      csv_.emplace(std::move(source), findings_);
    } else {
      csv_.emplace(std::move(source), findings_, names);
    }
    for (size_t i = 0; i < names.size(); ++i) {
      const bool is_optional = format == SeriesFormat::GenAi && i >= kGenAiNeeded;
      if (!is_optional || csv_->has_column(names[i])) columns_.push_back(columns_of(format)[i]);
    }
    names.clear();
    for (const SeriesColumn& column : columns_) names.push_back(column.name);
    csv_->bind(names);
    different_.resize(columns_.size());
    counts_.resize(columns_.size());
  }
  SeriesReport read() {
    while (csv_->next_row()) add_row();
    SeriesReport report;
    report.format = format_;
    report.rows = findings_.rows();
    report.skipped = findings_.skipped();
    if (first_ <= last_) {
      report.first = first_;
      report.last = last_;
    }
    for (size_t i = 0; i < columns_.size(); ++i) {
      const std::string name{columns_[i].name};
      if (columns_[i].kind == Kind::Name) {
        report.names.push_back({name, different_[i].count(), different_[i].is_exact()});
      } else if (columns_[i].kind == Kind::Value) {
        report.values.push_back({name, counts_[i].distribution()});
        report.is_rounded = report.is_rounded || counts_[i].is_rounded();
      }
    }
    if (gaps_.distribution().count > 0) {
      report.values.push_back({"between rows, s", gaps_.distribution()});
      report.is_rounded = report.is_rounded || gaps_.is_rounded();
    }
    report.notes = notes_of(findings_);
    report.errors = findings_.errors();
    report.skipped_examples = findings_.skipped_examples();
    return report;
  }

 private:
  void add_row() {
    numbers_.assign(columns_.size(), std::nullopt);
    double stamp = -1;
    for (size_t i = 0; i < columns_.size(); ++i) {
      const Kind kind = columns_[i].kind;
      if (kind == Kind::Name) csv_->short_text(i, kNameMax);
      if (kind == Kind::Name || csv_->is_nothing(i)) continue;
      numbers_[i] = kind == Kind::Value ? csv_->number(i, -1e18, 1e18) : csv_->seconds(i).seconds();
      if (kind == Kind::Stamp) stamp = *numbers_[i];
      if (kind == Kind::End && *numbers_[i] < stamp) csv_->wrong(i, "a time not before start_time");
    }
    if (csv_->row_ok()) keep_row(stamp);
  }
  void keep_row(double stamp) {
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i].kind == Kind::Name && !csv_->text(i).empty()) {
        different_[i].add(id_of(csv_->text(i)));
      }
      if (columns_[i].kind == Kind::Value && numbers_[i]) counts_[i].add(*numbers_[i]);
    }
    if (stamp < 0) return;
    first_ = std::min(first_, stamp);
    last_ = std::max(last_, stamp);
    // Only GenAi tables must be sorted by time.
    if (format_ != SeriesFormat::GenAi) return;
    if (before_ && stamp < *before_) findings_.remark("the time goes back");
    if (before_ && stamp >= *before_) gaps_.add(stamp - *before_);
    before_ = stamp;
  }

  Findings findings_;
  SeriesFormat format_;
  std::optional<CsvReader> csv_;
  std::vector<SeriesColumn> columns_;
  std::vector<std::optional<double>> numbers_;  // values of the present row
  std::vector<DistinctCounter> different_;
  std::vector<ValueCounts> counts_;
  ValueCounts gaps_;
  double first_ = 1e300, last_ = -1e300;
  std::optional<double> before_;
};

SeriesReport read(const SeriesParams& params, TextSource beginning, TextSource source) {
  const SeriesFormat format = params.format == SeriesFormat::Auto
                                  ? format_of(read_beginning(std::move(beginning)))
                                  : params.format;
  if (format == SeriesFormat::Auto) {
    SeriesReport report;
    report.errors.push_back(
        source.error().value_or(params.file + ": the file is of no known series of measurements"));
    return report;
  }
  return SeriesTable{format, std::move(source), params.lenient}.read();
}

}  // namespace

SeriesFormat detect_series(const std::string& file) {
  return format_of(read_beginning(TextSource::open_file(file)));
}

SeriesReport read_series(const SeriesParams& params) {
  return read(params, TextSource::open_file(params.file), TextSource::open_file(params.file));
}

SeriesReport read_series_text(const SeriesParams& params, std::string_view text) {
  return read(params, TextSource::from_memory(text, params.file),
              TextSource::from_memory(text, params.file));
}

}  // namespace orrery
