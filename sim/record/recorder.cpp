#include "sim/record/recorder.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <utility>

#include "sim/core/check.hpp"

namespace orrery {

bool is_meant(const std::string& glob, const std::string& path) {
  return ::fnmatch(glob.c_str(), path.c_str(), 0) == 0;
}

void Recorder::add_summary(SummaryValue value) {
  ORRERY_CHECK(std::none_of(summary_.begin(), summary_.end(),
                            [&](const SummaryValue& s) { return s.name == value.name; }),
               "a summary figure has one name and one value");
  summary_.push_back(std::move(value));
}

void Recorder::add_summary(std::string_view name, double value, std::string_view unit,
                           std::string_view doc) {
  add_summary({std::string{name}, value, std::string{unit}, std::string{doc}});
}

void Recorder::add_summary(std::string_view name, int64_t value, std::string_view unit,
                           std::string_view doc) {
  add_summary({std::string{name}, value, std::string{unit}, std::string{doc}});
}

void Recorder::flush_all() {
  for (BufferedRows* const rows : buffers_) rows->flush();
}

TableId MemoryRecorder::open(std::string_view path, std::string_view doc,
                             std::span<const Column> columns, size_t row_bytes) {
  ORRERY_CHECK(!started_, "tables are opened before the run starts");
  ORRERY_CHECK(
      std::none_of(tables_.begin(), tables_.end(), [&](const Table& t) { return t.path == path; }),
      "a table has one channel");
  tables_.push_back(
      {std::string{path}, std::string{doc}, {columns.begin(), columns.end()}, row_bytes, {}});
  return TableId{static_cast<uint32_t>(tables_.size() - 1)};
}

void MemoryRecorder::append(TableId table, const void* rows, size_t count) {
  Table& into = tables_[table.index];
  const auto* const from = static_cast<const std::byte*>(rows);
  into.bytes.insert(into.bytes.end(), from, from + count * into.row_bytes);
}

void MemoryRecorder::set_attribute(std::string_view name, AttributeValue value) {
  const auto at = std::find_if(attributes_.begin(), attributes_.end(),
                               [&](const auto& a) { return a.first == name; });
  if (at != attributes_.end()) {
    at->second = std::move(value);
  } else {
    attributes_.emplace_back(name, std::move(value));
  }
}

void MemoryRecorder::write_text(std::string_view path, std::string_view text) {
  ORRERY_CHECK(!started_, "texts are written before the run starts");
  texts_.emplace_back(path, text);
}

void MemoryRecorder::finish(const RunEnd& end) {
  flush_all();
  set_attribute("complete", end.complete);
  set_attribute("digest", end.digest);
  set_attribute("wall_seconds", end.wall_seconds);
  set_attribute("simulated_ns", end.simulated.ns);
}

const std::string& MemoryRecorder::text(std::string_view path) const {
  const auto at =
      std::find_if(texts_.begin(), texts_.end(), [&](const auto& t) { return t.first == path; });
  ORRERY_CHECK(at != texts_.end(), "a test asks for a text that was written");
  return at->second;
}

const AttributeValue& MemoryRecorder::attribute(std::string_view name) const {
  const auto at = std::find_if(attributes_.begin(), attributes_.end(),
                               [&](const auto& a) { return a.first == name; });
  ORRERY_CHECK(at != attributes_.end(), "a test asks for an attribute that was set");
  return at->second;
}

const MemoryRecorder::Table& MemoryRecorder::table(std::string_view path, size_t row_bytes) {
  flush_all();
  const auto at =
      std::find_if(tables_.begin(), tables_.end(), [&](const Table& t) { return t.path == path; });
  ORRERY_CHECK(at != tables_.end(), "a test asks for a table that was opened");
  ORRERY_CHECK(at->row_bytes == row_bytes, "rows come back as the struct they were emitted as");
  return *at;
}

}  // namespace orrery
