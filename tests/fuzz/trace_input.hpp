// tests/fuzz/trace_input.hpp -- decodes an input of traces_fuzz, for the fuzzer and for tests of
// its seeds.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "models/workload/traces/formats/detect.hpp"
#include "models/workload/traces/formats/trace_params.hpp"
#include "models/workload/traces/native/native_layout.hpp"
#include "models/workload/traces/requests/request_format.hpp"
#include "tests/support/temporary_folder.hpp"

namespace orrery::fuzz {

// An input of traces_fuzz, split into its parts. Its first byte picks the format and the next three
// the options; the text of the trace follows.
struct TraceInput {
  static constexpr size_t kHead = 4;
  static constexpr size_t kJobFormats = enum_names(TraceFormat{}).size();
  static constexpr size_t kFormats = kJobFormats + enum_names(RequestFormat{}).size();

  explicit TraceInput(std::string_view bytes)
      : format{static_cast<uint8_t>(bytes[0]) % kFormats},
        options{static_cast<uint8_t>(bytes[1])},
        filters{static_cast<uint8_t>(bytes[2])},
        more{static_cast<uint8_t>(bytes[3])},
        text{bytes.substr(kHead)} {}

  bool is_requests() const { return format >= kJobFormats; }
  TraceFormat job_format() const { return static_cast<TraceFormat>(format); }
  RequestFormat request_format() const { return static_cast<RequestFormat>(format - kJobFormats); }

  size_t format;
  unsigned options, filters, more;
  std::string text;
};

// In a format that has tables beside the trace, these tables may follow the text of the trace.
// Each table begins with the byte kTableMark and a letter for its name. In other formats the byte
// is part of the trace.
constexpr char kTableMark = '\x1E';
constexpr std::pair<char, std::string_view> kTableNames[] = {
    {'g', "pai_group_tag_table.csv"},     {'j', "pai_job_table.csv"},
    {'t', "pai_task_table.csv"},          {'s', "pai_sensor_table.csv"},
    {'b', "simulation_throughputs.json"}, {'n', "named.json"}};

inline std::map<std::string_view, std::string_view> tables_of(std::string_view text) {
  std::map<std::string_view, std::string_view> tables;
  for (size_t mark = text.find(kTableMark); mark != std::string_view::npos;) {
    const size_t next = text.find(kTableMark, mark + 1);
    const std::string_view table = text.substr(mark + 1, next - mark - 1);
    const auto* const name = std::ranges::find(kTableNames, table.empty() ? '\0' : table.front(),
                                               &std::pair<char, std::string_view>::first);
    if (name != std::end(kTableNames)) tables.insert_or_assign(name->second, table.substr(1));
    mark = next;
  }
  return tables;
}

// A folder for the tables of one input at a time. A table that is equal in the next input is not
// written again. The trace itself stays in memory.
class TraceFolder {
 public:
  // Readers also look for tables in the parent of the trace's folder. That parent is root_, which
  // has no tables.
  TraceFolder() { std::filesystem::create_directory(root_ / "log"); }

  std::string file(std::string_view name) const { return root_.path() / "log" / name; }
  // Moves the tables that follow the trace in `text` to files in the folder. Removes the files of
  // tables that earlier inputs had and `text` lacks.
  void set_tables(const traces::Format* format, std::string& text) {
    const bool has_tables = format != nullptr && (format->has_sensors || format->has_steps);
    const auto tables = tables_of(has_tables ? text : std::string_view{});
    for (const auto& [letter, name] : kTableNames) {
      const auto wanted = tables.find(name);
      const auto written = written_.find(name);
      if (wanted == tables.end()) {
        if (written != written_.end()) std::filesystem::remove(file(name));
        written_.erase(name);
      } else if (written == written_.end() || written->second != wanted->second) {
        std::ofstream{file(name), std::ios::binary} << wanted->second;
        written_.insert_or_assign(name, std::string{wanted->second});
      }
    }
    if (has_tables) text.resize(std::min(text.find(kTableMark), text.size()));
  }

 private:
  static std::filesystem::path in_memory() {
    const std::filesystem::path memory = "/dev/shm";
    std::error_code none;  // ignored: without /dev/shm the default folder is used
    const bool is_there = std::filesystem::is_directory(memory, none);
    return is_there ? memory : std::filesystem::temp_directory_path();
  }

  test::TemporaryFolder root_{in_memory()};
  std::map<std::string_view, std::string> written_;
};

// Makes the frame of a damaged native trace valid: the checksums, the count at the end, and the
// length of the last block. So a changed job or request reaches the decoder, instead of failing at
// the checksum.
inline void fit_native_frame(std::string& text) {
  constexpr size_t kFacts = 8;  // byte at which the length of the facts is stored
  const bool is_native =
      text.starts_with(traces::native::kMagic) || text.starts_with(traces::native::kRequestMagic);
  uint32_t length = 0;
  if (!is_native || text.size() < kFacts + sizeof length) return;
  std::memcpy(&length, text.data() + kFacts, sizeof length);
  constexpr size_t kHeader = traces::native::kBlockHeader;
  const auto put = [&](size_t at, auto value) { std::memcpy(&text[at], &value, sizeof value); };
  uint64_t all = 0;
  size_t at = kFacts + sizeof length + length;
  for (uint32_t items = 0; at + 2 * kHeader < text.size(); all += items) {
    uint32_t bytes = 0;
    std::memcpy(&bytes, &text[at], sizeof bytes);
    std::memcpy(&items, &text[at + sizeof bytes], sizeof items);
    const size_t room = text.size() - at - 2 * kHeader;
    const bool is_last = bytes == 0 || bytes > room || room - bytes <= kHeader;
    bytes = is_last ? static_cast<uint32_t>(room) : bytes;
    items = std::max(items, uint32_t{1});
    put(at, bytes);
    put(at + sizeof bytes, items);
    put(at + 8, traces::native::checksum(std::string_view{text}.substr(at + kHeader, bytes)));
    at += kHeader + bytes;
  }
  if (at + kHeader != text.size()) return;  // no room for the closing block
  put(at, uint64_t{0});
  put(at + 8, all);
}

}  // namespace orrery::fuzz
