// models/workload/traces/io/findings.hpp -- what a reader finds wrong, unusable or odd in a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

// What a reader met in a file besides rows it could use.
struct TraceNote {
  std::string what;
  int64_t rows = 0;
  int64_t first_row = 0;
};

// The columns of a table that were read, and those that were not.
struct TraceColumnUse {
  std::vector<std::string> read, passed_over;
};

namespace traces {

// Three degrees. A mistake is a row that breaks the format: it ends the reading, or, where the user
// asked for lenience, is skipped and counted. Something left out is a well-formed row that is no
// job by the format's own rules, such as one without processors. A remark is a job kept as it is
// although its numbers contradict each other. Nothing is dropped without one of these.
class Findings {
 public:
  static constexpr size_t kExamplesMax = 20;

  struct Options {
    std::string file;
    size_t errors_max = 1;
    bool is_lenient = false;
  };
  struct Count {
    std::string_view what;  // a literal
    int64_t rows = 0;
    int64_t first_row = 0;
  };

  explicit Findings(Options options);

  const std::string& file() const { return options_.file; }
  bool is_lenient() const { return options_.is_lenient; }
  // Rows before the first start_row() belong to the header: there, every mistake ends the reading.
  void start_row(int64_t row) {
    ++rows_;
    revisit_row(row);
  }
  // A row that was started before and has not been counted yet, as anything.
  void revisit_row(int64_t row) {
    row_ = row;
    row_ok_ = true;
  }
  bool row_ok() const { return row_ok_; }
  // No row may be read any more.
  bool is_stopped() const { return is_stopped_; }

  // Only the first mistake of a row is noted. `what` follows `file:row`.
  void mistake(std::string_view what);
  // `file:row:column (name): found '...', expected ...`
  void wrong_field(size_t column, std::string_view name, std::string_view found,
                   std::string_view expected);
  // A mistake of the file or of what was asked for, lenient or not; the whole message.
  void stop(const std::string& message);
  // What was found in a table that belongs to the file: its errors end the reading, its skipped
  // rows are told.
  void take_over(const Findings& beside);
  // `what` must be a literal; the counts are kept in the order of their first rows.
  void leave_out(std::string_view what);
  // The row only says more of a job that another row is counted for.
  void join() { joined_ += row_ok_ ? 1 : 0; }
  void remark(std::string_view what) {
    if (row_ok_) count(remarks_, what);
  }

  const std::vector<std::string>& errors() const { return errors_; }
  int64_t rows() const { return rows_; }  // started
  int64_t joined() const { return joined_; }
  int64_t skipped() const { return skipped_; }
  const std::string& first_skipped() const { return first_skipped_; }
  // The first malformed rows that were skipped, those of other tables among them.
  const std::vector<std::string>& skipped_examples() const { return examples_; }
  // Of other tables that were read.
  const std::vector<TraceNote>& beside() const { return beside_; }
  const std::vector<Count>& left_out() const { return left_out_; }
  const std::vector<Count>& remarks() const { return remarks_; }

 private:
  void count(std::vector<Count>& counts, std::string_view what) const;

  Options options_;
  int64_t row_ = 0;
  bool row_ok_ = true;
  bool is_stopped_ = false;
  int64_t rows_ = 0, joined_ = 0, skipped_ = 0;
  std::string first_skipped_;
  std::vector<std::string> errors_, examples_;
  std::vector<Count> left_out_, remarks_;
  std::vector<TraceNote> beside_;
};

// Rows skipped and left out with why, then oddities of those that were kept, then what was skipped
// of other tables.
std::vector<TraceNote> notes_of(const Findings& findings);

}  // namespace traces
}  // namespace orrery
