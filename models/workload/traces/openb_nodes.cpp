#include "models/workload/traces/openb_nodes.hpp"

#include <utility>

#include "models/workload/traces/csv.hpp"

namespace orrery {
namespace {

using traces::CsvReader;
using traces::TextSource;

constexpr std::string_view kColumns[] = {"sn", "cpu_milli", "memory_mib", "gpu", "model"};
enum Column : size_t { kName, kCpu, kMemory, kGpus, kModel };
constexpr size_t kErrorsMax = 20;
constexpr size_t kNodesMax = 1'000'000;
constexpr size_t kTextMax = 64;

OpenbNode parse_node(CsvReader& row) {
  OpenbNode node;
  node.name = row.short_text(kName, kTextMax);
  if (node.name.empty()) row.wrong(kName, "a name");
  node.cpu_milli = row.integer(kCpu, 1, 10'000'000);
  node.memory = Bytes{row.integer(kMemory, 1, int64_t{1} << 30U) << 20U};
  node.gpus = static_cast<int32_t>(row.integer(kGpus, 0, 64));
  node.model = row.short_text(kModel, kTextMax);
  if (node.gpus > 0 && node.model.empty()) row.wrong(kModel, "a GPU model, as there are GPUs");
  if (node.gpus == 0 && !node.model.empty()) row.wrong(kModel, "nothing, as there are no GPUs");
  return node;
}

OpenbNodeList read(TextSource source) {
  OpenbNodeList list;
  traces::Findings findings{{.file = source.name(), .errors_max = kErrorsMax}};
  CsvReader csv{std::move(source), findings};
  csv.bind(kColumns);
  while (csv.next_row()) {
    OpenbNode node = parse_node(csv);
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
  return read(TextSource::open_file(path));
}

OpenbNodeList parse_openb_nodes(std::string_view text, std::string name) {
  return read(TextSource::from_memory(text, std::move(name)));
}

}  // namespace orrery
