#include "models/workload/traces/formats/format.hpp"

#include <algorithm>
#include <utility>

namespace orrery::traces {
namespace {

constexpr size_t kPooledMax = 256;

class TableParser final : public RowParser {
 public:
  TableParser(const Format& format, ParserInput input)
      : format_{format}, csv_{std::move(input.source), input.findings}, pool_{input.pool} {
    csv_.bind(format.columns, how_guessed(format, input.params));
    if (format.has_comments) csv_.allow_comments();
  }
  const TraceRow* next() override {
    while (csv_.next_row()) {
      row_ = format_.parse(csv_, pool_);
      if (csv_.row_ok()) return &row_;
    }
    return nullptr;
  }
  std::string arrival_place(TraceArrival arrival) const override {
    return csv_.place(arrival == TraceArrival::Start ? format_.start_column
                                                     : format_.submit_column);
  }
  TraceColumnUse columns() const override { return csv_.use(format_.columns); }

 private:
  const Format& format_;
  CsvReader csv_;
  StringPool& pool_;
  TraceRow row_;
};

}  // namespace

std::string how_guessed(const Format& format, const TraceParams& params) {
  if (params.format != TraceFormat::Auto) return {};
  return " (format " + std::string{name_of(format.id)} +
         " was guessed from the columns that are there; `format` can name another format)";
}

std::unique_ptr<RowParser> open_parser(const Format& format, ParserInput input) {
  if (format.open != nullptr) return format.open(std::move(input));
  return std::make_unique<TableParser>(format, std::move(input));
}

std::vector<std::string_view> first_fields(std::string_view beginning, char separator) {
  std::string_view line = beginning.substr(0, beginning.find('\n'));
  if (line.ends_with('\r')) line.remove_suffix(1);
  std::vector<std::string_view> fields;
  while (!line.empty()) {
    const size_t end = std::min(line.find(separator), line.size());
    fields.push_back(line.substr(0, end));
    if (end == line.size()) break;
    line.remove_prefix(end + 1);
    if (line.empty()) fields.emplace_back();
  }
  return fields;
}

std::string_view interned(CsvReader& row, size_t column, StringPool& pool) {
  const auto text = pool.intern(row.short_text(column, kPooledMax));
  if (text) return *text;
  row.wrong(column, "at most " + std::to_string(StringPool::kMax) + " different names in a file");
  return {};
}

int64_t id_of(std::string_view name) {
  const auto number = parse_integer(name.substr(0, name.find('#')));
  if (number && *number >= 0) return *number;
  uint64_t hash = 0xCBF29CE484222325U;
  for (const char c : name) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001B3U;
  return static_cast<int64_t>(hash >> 1U);
}

void identify(CsvReader& row, size_t column, TraceJob& job) {
  const std::string_view text = row.short_text(column, TraceName::kMax);
  if (text.empty()) row.wrong(column, "a name");
  job.name = TraceName{text};
  job.row = row.row();
  job.id = id_of(text);
}

void spread_gpus(CsvReader& row, size_t column, int64_t gpus, int64_t pods, TraceJob& job) {
  if (spread_gpus(gpus, pods, job)) return;
  row.wrong(column, "at most " + std::to_string(kGpusPerPodMax) + " GPUs per pod");
}

bool spread_gpus(int64_t gpus, int64_t pods, TraceJob& job) {
  const int64_t each = (gpus + pods - 1) / pods;
  if (each > kGpusPerPodMax) return false;
  job.pods = static_cast<int32_t>(pods);
  job.gpus_per_pod = static_cast<int32_t>(each);
  const int64_t rest = gpus - each * (pods - 1);
  job.gpus_last_pod = static_cast<int32_t>(gpus == 0 ? 0 : std::max<int64_t>(rest, 1));
  return true;
}

int64_t pods_for(int64_t gpus) {
  constexpr int64_t kGpusPerNode = 8;
  return std::max<int64_t>((gpus + kGpusPerNode - 1) / kGpusPerNode, 1);
}

void pack_gpus(CsvReader& row, size_t column, int64_t gpus, TraceJob& job) {
  spread_gpus(row, column, gpus, pods_for(gpus), job);
}

void settle_overrun(TraceOverruns overruns, TraceJob& job) {
  if (!job.overran()) return;
  if (overruns == TraceOverruns::Cut) job.duration = job.requested_time;
  if (overruns == TraceOverruns::Raise) job.requested_time = job.duration;
}

void number_by_row(int64_t row, TraceJob& job) {
  job.id = row;
  job.row = row;
  job.name = TraceName{std::to_string(row)};
}

}  // namespace orrery::traces
