// models/workload/traces/io/named_rows.hpp -- rows with named fields, from a CSV file or JSON
// lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/workload/traces/io/findings.hpp"
#include "models/workload/traces/io/text_source.hpp"

namespace orrery::traces {

struct WantedField {
  std::string name;
  bool is_needed = false;  // a CSV file without this column is rejected
};

// Reads only the fields listed in `wanted`, an argument of open_named_csv() and open_json_lines().
// The argument `field` is an index into this list. The text of a field that a row lacks is empty.
class NamedRows {
 public:
  virtual ~NamedRows() = default;
  // Reads the next row. Returns false at the end, or once the findings have stopped the reading.
  // Malformed rows are reported to the findings and skipped; the findings must outlive this object.
  virtual bool next() = 0;
  virtual int64_t row() const = 0;
  virtual std::string place(size_t field) const = 0;  // ":column (name)", in JSON lines " (name)"
  virtual TraceColumnUse use() const = 0;

  std::string_view text(size_t field) const { return cells_[field].text; }
  // Returns false if the field is absent, empty, "None", "null" or the like.
  bool has(size_t field) const;
  void wrong(size_t field, std::string_view expected);
  Findings& findings() { return findings_; }

 protected:
  struct Cell {
    std::string text;
    size_t column = 0;  // 0: missing in the row
  };
  NamedRows(Findings& findings, std::vector<WantedField> wanted)
      : findings_{findings}, wanted_{std::move(wanted)}, cells_(wanted_.size()) {}

  Findings& findings_;
  std::vector<WantedField> wanted_;
  std::vector<Cell> cells_;
};

// The message about a missing column ends with `hint` and the list of the file's columns.
std::unique_ptr<NamedRows> open_named_csv(TextSource source, Findings& findings,
                                          std::vector<WantedField> wanted, std::string_view hint);
std::unique_ptr<NamedRows> open_json_lines(TextSource source, Findings& findings,
                                           std::vector<WantedField> wanted);

}  // namespace orrery::traces
