// Reads any bytes as one of the tables beside a trace: GPU throughputs, complementary tables of
// PAI, tables of measurements, node lists. The parser must return an error or rows, and must not
// crash.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "models/workload/traces/tables/openb_nodes.hpp"
#include "models/workload/traces/tables/pai_tables.hpp"
#include "models/workload/traces/tables/series.hpp"
#include "models/workload/traces/tables/throughputs.hpp"

namespace {

using namespace orrery;
using namespace orrery::traces;

enum Kind : size_t { kThroughputs, kGroups, kJobs, kPlans, kTaskUses, kWorkerUses, kSeries };
constexpr size_t kSeriesKinds = enum_names(SeriesFormat{}).size();
constexpr size_t kNodes = kSeries + kSeriesKinds;

void read_pai(size_t kind, bool is_lenient, std::string_view text) {
  Findings findings{{.file = "fuzz", .is_lenient = is_lenient}};
  StringPool pool;
  PaiTables tables{findings, pool};
  TextSource source = TextSource::from_memory(text, "beside");
  if (kind == kGroups) tables.read_groups(std::move(source));
  if (kind == kJobs) tables.read_jobs(std::move(source));
  if (kind == kPlans) tables.read_plans(std::move(source));
  if (kind == kTaskUses) tables.read_uses(std::move(source), PaiTables::UseOf::Tasks);
  if (kind == kWorkerUses) tables.read_uses(std::move(source), PaiTables::UseOf::Workers);
  TraceRow row;
  row.job.gpus_per_pod = row.job.gpus_last_pod = 1;
  row.start = Time{1'000'000'000'000};
  tables.apply_submission("job1", row);
  const bool is_task = kind == kTaskUses;
  if (is_task || kind == kWorkerUses) tables.apply_use(is_task ? "job1/worker" : "w1", row.job);
  if (const PaiPlan* plan = tables.plan_of("job1/worker")) apply_pai_plan(*plan, row.job);
  if (row.job.submit > row.start || row.job.cpu_milli() < 0 || row.job.gpus() < 0) std::abort();
  if (row.job.gpu_milli < 1 || row.job.gpu_milli > 1000) std::abort();
  // Without `lenient` a malformed row is an error, so no row is skipped.
  if (!findings.beside().empty() && !is_lenient) std::abort();
}

void read_measurements(const SeriesParams& params, std::string_view text) {
  const SeriesReport report = read_series_text(params, text);
  if (!report.errors.empty()) return;
  for (const SeriesReport::Values& values : report.values) {
    const auto& at = values.distribution.at;
    if (!std::is_sorted(at.begin(), at.end())) std::abort();
    if (values.distribution.count > report.rows) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  // The first byte: its low seven bits pick the table, its highest bit sets `lenient`.
  const size_t kind = (data[0] & 127U) % (kNodes + 1);
  const bool is_lenient = (data[0] & 128U) != 0;
  const std::string_view text{reinterpret_cast<const char*>(data) + 1, size - 1};
  if (kind == kThroughputs) {
    for (const auto& [gpu, by_job] : read_throughputs(TextSource::from_memory(text, "t")).by_gpu) {
      for (const auto& [type, rate] : by_job) {
        if (!(rate > 0)) std::abort();
      }
    }
  } else if (kind == kNodes) {
    parse_openb_nodes(text, "fuzz");
  } else if (kind >= kSeries) {
    read_measurements({.file = "fuzz",
                       .format = static_cast<SeriesFormat>(kind - kSeries),
                       .lenient = is_lenient},
                      text);
  } else {
    read_pai(kind, is_lenient, text);
  }
  return 0;
}
