#include "models/workload/traces/io/csv.hpp"

#include <algorithm>
#include <charconv>
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

CsvReader::CsvReader(TextSource source, Findings& findings, char separator)
    : source_{std::move(source)}, findings_{findings}, separator_{separator} {
  read_header();
}

CsvReader::CsvReader(TextSource source, Findings& findings,
                     std::span<const std::string_view> columns, char separator)
    : source_{std::move(source)},
      findings_{findings},
      separator_{separator},
      header_{columns.begin(), columns.end()} {
  if (source_.error()) findings_.stop(*source_.error());
}

void CsvReader::read_header() {
  std::optional<std::string_view> line;
  do {
    line = source_.next_line();
  } while (line && (line->empty() || line->front() == '#'));
  if (!line) {
    findings_.stop(source_.error().value_or(source_.name() + ": found no rows, expected a header"));
    return;
  }
  const std::string where = source_.name() + ":" + std::to_string(row()) + ": ";
  if (!split(*line)) {
    findings_.stop(where + "the header has a quote that does not end");
    return;
  }
  if (fields_.size() > kColumnsMax) {
    findings_.stop(where + "found " + plural(fields_.size(), "column") + ", expected at most " +
                   std::to_string(kColumnsMax));
    return;
  }
  header_.assign(fields_.begin(), fields_.end());
  std::vector<std::string_view> sorted(header_.begin(), header_.end());
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) {
    findings_.stop(where + "column " + in_quotes(*twice) + " is named twice");
  }
}

bool CsvReader::has_column(std::string_view wanted) const {
  return std::find(header_.begin(), header_.end(), wanted) != header_.end();
}

void CsvReader::bind(std::span<const std::string_view> names, std::string_view hint) {
  positions_.clear();
  if (findings_.is_stopped()) return;
  for (const std::string_view wanted : names) {
    const auto found = std::find(header_.begin(), header_.end(), wanted);
    if (found == header_.end()) {
      findings_.stop(source_.name() + ":" + std::to_string(row()) + ": missing column " +
                     in_quotes(wanted) + did_you_mean(wanted, header_) + std::string{hint});
    }
    positions_.push_back(static_cast<size_t>(found - header_.begin()));
  }
}

TraceColumnUse CsvReader::use(std::span<const std::string_view> names) const {
  TraceColumnUse use;
  for (const std::string& name : header_) {
    const bool is_read = std::ranges::find(names, name) != names.end();
    (is_read ? use.read : use.passed_over).push_back(name);
  }
  return use;
}

bool CsvReader::next_row() {
  while (!findings_.is_stopped()) {
    const auto line = source_.next_line();
    if (!line) {
      if (source_.error()) findings_.stop(*source_.error());
      return false;
    }
    if (line->empty() || (has_comments_ && line->front() == '#')) continue;
    findings_.start_row(row());
    const bool is_split = split(*line);
    if (is_split && fields_.size() == header_.size()) return true;
    findings_.mistake(": found " +
                      (is_split ? plural(fields_.size(), "field") : "a quote that does not end") +
                      ", expected " + plural(header_.size(), "field"));
  }
  return false;
}

// Returns false if a quoted field does not end correctly.
bool CsvReader::split(std::string_view line) {
  fields_.clear();
  if (separator_ == ',' && line.find('"') != std::string_view::npos) return split_quoted(line);
  for (;;) {
    const size_t comma = line.find(separator_);
    fields_.push_back(line.substr(0, comma));
    if (comma == std::string_view::npos) return true;
    line.remove_prefix(comma + 1);
  }
}

bool CsvReader::split_quoted(std::string_view line) {
  unquoted_.clear();
  unquoted_.reserve(line.size());  // so that the views below stay valid
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
    ++at;  // skips the comma
  }
}

void CsvReader::wrong(size_t column, std::string_view expected) {
  const size_t position = positions_[column];
  findings_.wrong_field(position + 1, header_[position], text(column), expected);
}

std::string CsvReader::place(size_t column) const {
  const size_t position = positions_[column];
  return ":" + std::to_string(position + 1) + " (" + header_[position] + ")";
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

int64_t CsvReader::whole(size_t column, int64_t low, int64_t high) {
  const auto value = parse_whole(text(column));
  if (value && *value >= low && *value <= high) return *value;
  wrong(column, "a whole number from " + std::to_string(low) + " to " + std::to_string(high));
  return low;
}

double CsvReader::number(size_t column, double low, double high) {
  const std::string_view found = text(column);
  double value = 0;
  const auto [end, status] = std::from_chars(found.data(), found.data() + found.size(), value);
  const bool is_number = status == std::errc{} && end == found.data() + found.size();
  if (is_number && value >= low && value <= high) return value;
  wrong(column, "a number from " + std::to_string(low) + " to " + std::to_string(high));
  return low;
}

Duration CsvReader::seconds(size_t column) {
  const auto value = parse_seconds(text(column));
  if (value && value->ns >= 0) return *value;
  wrong(column, "a number of seconds >= 0");
  return {};
}

Time CsvReader::stamp(size_t column) {
  if (const auto value = parse_stamp(text(column))) return *value;
  wrong(column, "a date and time such as 2020-04-01 12:00:00");
  return {};
}

Time CsvReader::date_time(size_t column) {
  const auto value = parse_date_time(text(column));
  if (value && text(column).size() > 10) return *value;
  wrong(column, "a date and time such as 2020-04-01 12:00:00");
  return {};
}

}  // namespace orrery::traces
