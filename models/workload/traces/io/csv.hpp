// models/workload/traces/io/csv.hpp -- reads the rows of a table with named columns.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/workload/traces/io/cell.hpp"
#include "models/workload/traces/io/findings.hpp"
#include "models/workload/traces/io/text_source.hpp"
#include "sim/core/enum_names.hpp"
#include "sim/core/time.hpp"

namespace orrery::traces {

// A text and its value; several texts may have the same value.
template <class E>
struct Word {
  std::string_view text;
  E value;
};

// Reads rows of fields separated by `separator`. Only if `separator` is a comma, fields may have
// RFC 4180 quotes, which must end on the same line. Columns are found by name, so their order is
// free, and unknown columns are skipped. A getter that finds a wrong field reports it to the
// findings and returns a default, so parsing a row needs no branch per field. Afterwards the parser
// drops the row if row_ok() is false.
class CsvReader {
 public:
  // Reads the header. The findings must outlive the reader.
  CsvReader(TextSource source, Findings& findings, char separator = ',');
  // For a table without a header line: `columns` names its columns in order.
  CsvReader(TextSource source, Findings& findings, std::span<const std::string_view> columns,
            char separator = ',');

  const std::vector<std::string>& header() const { return header_; }
  bool has_column(std::string_view name) const;
  // From now on, a getter called with k reads the column that is named names[k]. If a column is
  // missing, the reading stops with a mistake; `hint` is appended to the message.
  void bind(std::span<const std::string_view> names, std::string_view hint = {});
  // Which columns of the header are among `names`.
  TraceColumnUse use(std::span<const std::string_view> names) const;
  // From now on, lines after the header that start with '#' are skipped.
  void allow_comments() { has_comments_ = true; }

  // Reads the next row. Returns false at the end of the table, or once the findings have stopped
  // the reading. Skips blank lines. Rows that cannot be split into fields are reported and skipped.
  bool next_row();
  int64_t row() const { return source_.row(); }
  bool row_ok() const { return findings_.row_ok(); }
  Findings& findings() { return findings_; }

  std::string_view text(size_t column) const { return fields_[positions_[column]]; }
  std::string_view short_text(size_t column, size_t length_max);
  int64_t integer(size_t column, int64_t low, int64_t high);
  int64_t whole(size_t column, int64_t low, int64_t high);  // 8 or 8.0
  Duration seconds(size_t column);                          // not negative
  double number(size_t column, double low, double high);
  Time date_time(size_t column);
  Time stamp(size_t column);  // a date and time with optional fraction and offset
  bool is_nothing(size_t column) const { return traces::is_nothing(text(column)); }
  template <class E>
  E word(size_t column, std::span<const Word<E>> words) {
    for (const Word<E>& candidate : words) {
      if (candidate.text == text(column)) return candidate.value;
    }
    std::string expected = "one of";
    for (const Word<E>& candidate : words) expected.append(" ").append(candidate.text);
    wrong(column, expected);
    return words.front().value;
  }
  // Reports a mistake that no getter finds, such as a field that contradicts another field.
  void wrong(size_t column, std::string_view expected);
  std::string place(size_t column) const;  // ":column (name)"
  // Position of the column in the file, from 1.
  size_t column(size_t column) const { return positions_[column] + 1; }

 private:
  bool split(std::string_view line);
  bool split_quoted(std::string_view line);
  void read_header();

  TextSource source_;
  Findings& findings_;
  char separator_ = ',';
  bool has_comments_ = false;
  std::vector<std::string> header_;
  std::vector<size_t> positions_;  // index of each bound column among the fields
  std::vector<std::string_view> fields_;
  std::string unquoted_;  // texts of the row's quoted fields
};

}  // namespace orrery::traces
