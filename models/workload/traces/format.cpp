#include "models/workload/traces/format.hpp"

#include <algorithm>
#include <utility>

namespace orrery::traces {
namespace {

constexpr size_t kPooledMax = 256;
constexpr int64_t kGpusPerPodMax = 16;

class TableParser final : public RowParser {
 public:
  TableParser(const Format& format, ParserInput input)
      : format_{format}, csv_{std::move(input.source), input.findings}, pool_{input.pool} {
    csv_.bind(format.columns);
    if (format.has_comments) csv_.allow_comments();
  }
  const TraceRow* next() override {
    while (csv_.next_row()) {
      row_ = format_.parse(csv_, pool_);
      if (csv_.row_ok()) return &row_;
    }
    return nullptr;
  }

 private:
  const Format& format_;
  CsvReader csv_;
  StringPool& pool_;
  TraceRow row_;
};

}  // namespace

std::unique_ptr<RowParser> open_parser(const Format& format, ParserInput input) {
  if (format.open != nullptr) return format.open(std::move(input));
  return std::make_unique<TableParser>(format, std::move(input));
}

std::string_view interned(CsvReader& row, size_t column, StringPool& pool) {
  const auto text = pool.intern(row.short_text(column, kPooledMax));
  if (text) return *text;
  row.wrong(column, "at most " + std::to_string(StringPool::kMax) + " different names in a file");
  return {};
}

void identify(CsvReader& row, size_t column, TraceJob& job) {
  const std::string_view text = row.short_text(column, TraceName::kMax);
  if (text.empty()) row.wrong(column, "a name");
  job.name = TraceName{text};
  job.row = row.row();
  if (const auto number = parse_integer(text.substr(0, text.find('#'))); number && *number >= 0) {
    job.id = *number;
    return;
  }
  uint64_t hash = 0xCBF29CE484222325U;
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001B3U;
  job.id = static_cast<int64_t>(hash >> 1U);
}

void spread_gpus(CsvReader& row, size_t column, int64_t gpus, int64_t pods, TraceJob& job) {
  const int64_t each = (gpus + pods - 1) / pods;
  if (each > kGpusPerPodMax) {
    row.wrong(column, "at most " + std::to_string(kGpusPerPodMax) + " GPUs per pod");
    return;
  }
  job.pods = static_cast<int32_t>(pods);
  job.gpus_per_pod = static_cast<int32_t>(each);
  const int64_t rest = gpus - each * (pods - 1);
  job.gpus_last_pod = static_cast<int32_t>(gpus == 0 ? 0 : std::max<int64_t>(rest, 1));
}

}  // namespace orrery::traces
