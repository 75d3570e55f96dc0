#include "models/workload/traces/tables/openb_nodes.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "models/hardware/resources.hpp"
#include "models/workload/traces/formats/format.hpp"
#include "models/workload/traces/io/csv.hpp"

namespace orrery {
namespace {

using traces::CsvReader;
using traces::TextSource;

constexpr std::string_view kColumns[] = {"sn", "cpu_milli", "memory_mib", "gpu", "model"};
enum OpenbColumn : size_t { kName, kCpu, kMemory, kGpus, kGpuModel };
constexpr size_t kErrorsMax = 20;
constexpr size_t kNodesMax = 1'000'000;
constexpr size_t kTextMax = 64;

OpenbNode parse_node(CsvReader& row) {
  OpenbNode node;
  node.name = row.short_text(kName, kTextMax);
  if (node.name.empty()) row.wrong(kName, "a name");
  node.cpu_milli = row.integer(kCpu, 1, 10'000'000);
  node.memory = Bytes{row.integer(kMemory, 1, kNodeMemoryMax.count >> 20U) << 20U};
  node.gpus = static_cast<int32_t>(row.integer(kGpus, 0, 64));
  node.model = row.short_text(kGpuModel, kTextMax);
  if (node.gpus > 0 && node.model.empty()) row.wrong(kGpuModel, "a GPU model, as there are GPUs");
  if (node.gpus == 0 && !node.model.empty()) row.wrong(kGpuModel, "nothing, as there are no GPUs");
  return node;
}

constexpr std::string_view kPaiColumns[] = {"machine", "gpu_type", "cap_cpu", "cap_mem", "cap_gpu"};

OpenbNode parse_pai_node(CsvReader& row) {
  OpenbNode node;
  node.name = row.short_text(0, kTextMax);
  if (node.name.empty()) row.wrong(0, "a name");
  node.cpu_milli = row.whole(2, 1, 10'000) * 1000;
  node.memory = Bytes{row.whole(3, 1, kNodeMemoryMax.count >> 30U) << 30U};
  node.gpus = static_cast<int32_t>(row.whole(4, 0, 64));
  const std::string_view type = row.short_text(1, kTextMax);
  if (node.gpus > 0) node.model = type == "V100" ? "V100M16" : type;
  if (type.empty() || (node.gpus > 0) != (type != "CPU")) {
    row.wrong(1, node.gpus > 0 ? "a GPU model, as there are GPUs" : "CPU, as there are no GPUs");
  }
  return node;
}

constexpr std::string_view kSpotColumns[] = {"gpu_model", "gpu_capacity_num", "cpu_num",
                                             "node_name"};

OpenbNode parse_spot_node(CsvReader& row) {
  OpenbNode node;
  node.model = row.short_text(0, kTextMax);
  if (node.model.empty()) row.wrong(0, "a GPU model");
  node.gpus = static_cast<int32_t>(row.whole(1, 1, 64));
  node.cpu_milli = row.whole(2, 1, 10'000) * 1000;
  node.name = row.short_text(3, kTextMax);
  if (node.name.empty()) row.wrong(3, "a name");
  return node;
}

// A user's own list of nodes. `cpus` are cores, and `memory` is in GiB.
constexpr std::string_view kOwnColumns[] = {"name", "gpus", "gpu_model", "cpus", "memory"};

OpenbNode parse_own_node(CsvReader& row) {
  OpenbNode node;
  node.name = row.short_text(0, kTextMax);
  if (node.name.empty()) row.wrong(0, "a name");
  node.gpus = static_cast<int32_t>(row.whole(1, 0, 64));
  node.model = row.short_text(2, kTextMax);
  if (node.gpus > 0 && node.model.empty()) row.wrong(2, "a GPU model, as there are GPUs");
  if (node.gpus == 0 && !node.model.empty()) row.wrong(2, "nothing, as there are no GPUs");
  node.cpu_milli = static_cast<int64_t>(row.number(3, 0.001, 10'000) * 1000);
  if (row.is_nothing(4)) return node;
  constexpr double kGib = 1U << 30U;
  node.memory =
      Bytes{static_cast<int64_t>(row.number(4, 0.001, kNodeMemoryMax.count / kGib) * kGib)};
  return node;
}

struct Layout {
  std::span<const std::string_view> columns;
  OpenbNode (*parse)(CsvReader& row);
  bool has_header;
};

// The PAI list has no header, so its first line has numbers in the columns of cores and GPUs.
Layout layout_of(TextSource source) {
  const auto line = source.next_line();
  const auto fields = traces::first_fields(line.value_or(""), ',');
  const bool is_pai = fields.size() == std::size(kPaiColumns) && traces::parse_whole(fields[2]) &&
                      traces::parse_whole(fields[4]);
  if (is_pai) return {kPaiColumns, parse_pai_node, false};
  const bool is_spot = std::ranges::find(fields, kSpotColumns[1]) != fields.end();
  if (is_spot) return {kSpotColumns, parse_spot_node, true};
  const bool is_own = std::ranges::find(fields, kOwnColumns[1]) != fields.end();
  if (is_own) return {kOwnColumns, parse_own_node, true};
  return {kColumns, parse_node, true};
}

OpenbNodeList read(TextSource source, const Layout& layout) {
  OpenbNodeList list;
  traces::Findings findings{{.file = source.name(), .errors_max = kErrorsMax}};
  CsvReader csv = layout.has_header ? CsvReader{std::move(source), findings}
                                    : CsvReader{std::move(source), findings, layout.columns};
  csv.bind(layout.columns);
  while (csv.next_row()) {
    OpenbNode node = layout.parse(csv);
    if (!csv.row_ok()) continue;
    if (list.nodes.size() == kNodesMax) {
      findings.stop(findings.file() + ":" + std::to_string(csv.row()) + ": expected at most " +
                    std::to_string(kNodesMax) + " nodes");
      break;
    }
    list.nodes.push_back(std::move(node));
  }
  list.errors = findings.errors();
  return list;
}

}  // namespace

OpenbNodeList read_openb_nodes(const std::string& path) {
  return read(TextSource::open_file(path), layout_of(TextSource::open_file(path)));
}

OpenbNodeList parse_openb_nodes(std::string_view text, std::string name) {
  return read(TextSource::from_memory(text, name), layout_of(TextSource::from_memory(text, name)));
}

}  // namespace orrery
