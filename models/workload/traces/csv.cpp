#include "models/workload/traces/csv.hpp"

#include <algorithm>
#include <utility>

#include "sim/config/diagnostics.hpp"
#include "sim/core/check.hpp"

namespace orrery::traces {
namespace {

constexpr size_t kColumnsMax = 1000;

std::string plural(size_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string{noun} + (count == 1 ? "" : "s");
}

}  // namespace

CsvReader::CsvReader(TextSource source, size_t errors_max)
    : source_{std::move(source)}, errors_max_{errors_max} {
  ORRERY_CHECK(errors_max > 0, "a reader that may note nothing could not say why it stopped");
  read_header();
}

void CsvReader::fail(const std::string& message) {
  row_ok_ = false;
  if (errors_.size() < errors_max_) errors_.push_back(message);
  is_done_ = is_done_ || errors_.size() >= errors_max_;
}

void CsvReader::read_header() {
  std::optional<std::string_view> line;
  do {
    line = source_.next_line();
  } while (line && (line->empty() || line->front() == '#'));
  if (!line) {
    fail(source_.error().value_or(name() + ": found no rows, expected a header"));
    is_done_ = true;
    return;
  }
  const std::string where = name() + ":" + std::to_string(row()) + ": ";
  if (!split(*line)) {
    fail(where + "the header has a quote that does not end");
    is_done_ = true;
    return;
  }
  if (fields_.size() > kColumnsMax) {
    fail(where + "found " + plural(fields_.size(), "column") + ", expected at most " +
         std::to_string(kColumnsMax));
    is_done_ = true;
    return;
  }
  header_.assign(fields_.begin(), fields_.end());
  std::vector<std::string_view> sorted(header_.begin(), header_.end());
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) {
    fail(where + "column " + in_quotes(*twice) + " is named twice");
    is_done_ = true;
  }
}

bool CsvReader::has_column(std::string_view wanted) const {
  return std::find(header_.begin(), header_.end(), wanted) != header_.end();
}

void CsvReader::bind(std::span<const std::string_view> names) {
  positions_.clear();
  for (const std::string_view wanted : names) {
    const auto found = std::find(header_.begin(), header_.end(), wanted);
    if (found == header_.end()) {
      if (is_done_) return;
      fail(name() + ":" + std::to_string(row()) + ": missing column " + in_quotes(wanted) +
           did_you_mean(wanted, header_));
    }
    positions_.push_back(static_cast<size_t>(found - header_.begin()));
  }
  if (!errors_.empty()) is_done_ = true;  // rows would be read through missing columns
}

bool CsvReader::next_row() {
  while (!is_done_) {
    const auto line = source_.next_line();
    if (!line) {
      if (source_.error()) fail(*source_.error());
      is_done_ = true;
      return false;
    }
    if (line->empty() || (has_comments_ && line->front() == '#')) continue;
    row_ok_ = true;
    const bool is_split = split(*line);
    if (is_split && fields_.size() == header_.size()) return true;
    fail(name() + ":" + std::to_string(row()) + ": found " +
         (is_split ? plural(fields_.size(), "field") : "a quote that does not end") +
         ", expected " + plural(header_.size(), "field"));
  }
  return false;
}

// False when a quoted field does not end where it must.
bool CsvReader::split(std::string_view line) {
  fields_.clear();
  if (line.find('"') != std::string_view::npos) return split_quoted(line);
  for (;;) {
    const size_t comma = line.find(',');
    fields_.push_back(line.substr(0, comma));
    if (comma == std::string_view::npos) return true;
    line.remove_prefix(comma + 1);
  }
}

bool CsvReader::split_quoted(std::string_view line) {
  unquoted_.clear();
  unquoted_.reserve(line.size());  // the views below must not move
  for (size_t at = 0;;) {
    if (at < line.size() && line[at] == '"') {
      const size_t begin = unquoted_.size();
      for (++at;; ++at) {
        if (at >= line.size()) return false;
        if (line[at] != '"') {
          unquoted_ += line[at];
        } else if (at + 1 < line.size() && line[at + 1] == '"') {
          unquoted_ += line[++at];
        } else {
          break;
        }
      }
      ++at;
      if (at < line.size() && line[at] != ',') return false;
      fields_.push_back(std::string_view{unquoted_}.substr(begin));
    } else {
      const size_t comma = std::min(line.find(',', at), line.size());
      fields_.push_back(line.substr(at, comma - at));
      at = comma;
    }
    if (at >= line.size()) return true;
    ++at;  // the comma
  }
}

void CsvReader::wrong(size_t column, std::string_view expected) {
  if (!row_ok_) return;
  fail(place(row(), column) + ": found " + in_quotes(text(column)) + ", expected " +
       std::string{expected});
}

std::string CsvReader::place(int64_t row, size_t column) const {
  const size_t position = positions_[column];
  return name() + ":" + std::to_string(row) + ":" + std::to_string(position + 1) + " (" +
         header_[position] + ")";
}

std::string_view CsvReader::short_text(size_t column, size_t length_max) {
  if (text(column).size() <= length_max) return text(column);
  wrong(column, "at most " + std::to_string(length_max) + " bytes");
  return {};
}

int64_t CsvReader::integer(size_t column, int64_t low, int64_t high) {
  const auto value = parse_integer(text(column));
  if (value && *value >= low && *value <= high) return *value;
  wrong(column, "an integer from " + std::to_string(low) + " to " + std::to_string(high));
  return low;
}

Duration CsvReader::seconds(size_t column) {
  const auto value = parse_seconds(text(column));
  if (value && value->ns >= 0) return *value;
  wrong(column, "a number of seconds >= 0");
  return {};
}

Time CsvReader::date_time(size_t column) {
  const auto value = parse_date_time(text(column));
  if (value && text(column).size() > 10) return *value;
  wrong(column, "a date and time such as 2020-04-01 12:00:00");
  return {};
}

}  // namespace orrery::traces
