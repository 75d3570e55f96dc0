#include "models/network/fabric/table_file.hpp"

#include <fstream>

namespace orrery {
namespace {

constexpr size_t kBytesMax = size_t{64} << 20U;
constexpr size_t kBlock = size_t{256} << 10U;
constexpr std::string_view kZipMagic = "PK\x03\x04";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

TableRow split(std::string_view line, int64_t number) {
  TableRow row{.number = number, .cells = {}};
  for (;;) {
    const size_t comma = line.find(',');
    row.cells.emplace_back(line.substr(0, comma));
    if (comma == std::string_view::npos) return row;
    line.remove_prefix(comma + 1);
  }
}

}  // namespace

Table read_table(std::string_view text, const std::string& name) {
  Table table{.name = name, .rows = {}, .error = {}};
  if (text.starts_with(kZipMagic)) {
    table.error = name + ": is an archive or a workbook: export the sheet as CSV";
    return table;
  }
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  for (int64_t number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find('\0') != std::string_view::npos) {
      table.error = name + ":" + std::to_string(number) + ": a NUL byte: this is no text";
      return table;
    }
    if (!line.empty()) table.rows.push_back(split(line, number));
  }
  return table;
}

Table read_table_file(const std::string& path) {
  std::ifstream input{path, std::ios::binary};
  if (!input) return {.name = path, .rows = {}, .error = path + ": cannot be read"};
  std::string bytes;
  while (input && bytes.size() <= kBytesMax) {
    const size_t size = bytes.size();
    bytes.resize(size + kBlock);
    input.read(bytes.data() + size, static_cast<std::streamsize>(kBlock));
    bytes.resize(size + static_cast<size_t>(input.gcount()));
  }
  if (input.bad()) return {.name = path, .rows = {}, .error = path + ": cannot be read"};
  if (bytes.empty())
    return {.name = path, .rows = {}, .error = path + ": is empty or cannot be read"};
  if (bytes.size() > kBytesMax)
    return {.name = path, .rows = {}, .error = path + ": is larger than 64 MiB"};
  return read_table(bytes, path);
}

}  // namespace orrery
