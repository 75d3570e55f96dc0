// models/workload/traces/io/findings.hpp -- mistakes, unusable rows and oddities found in a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

// `what` is a remark about rows, or the reason why rows were skipped or left out. `rows` is the
// number of these rows.
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

// There are three kinds of findings. A mistake is a row that violates the format. With `is_lenient`
// such rows are skipped and counted; otherwise the reading ends after `errors_max` mistakes. A
// left-out row is well formed but no job by the format's rules, for example because it has no
// processors. A remark is about a job that is kept although its numbers contradict each other, or
// although a part of it is not replayed. A parser that drops a row must report a mistake, or a
// reason for leaving the row out.
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
  // Begins a row. Mistakes in the header, before the first row, must be reported by stop().
  void start_row(int64_t row) {
    ++rows_;
    revisit_row(row);
  }
  // Returns to an earlier row. Must not be called for a row that became a job, or that was skipped,
  // left out or joined.
  void revisit_row(int64_t row) {
    row_ = row;
    row_ok_ = true;
  }
  bool row_ok() const { return row_ok_; }
  // Returns true if no further row may be read.
  bool is_stopped() const { return is_stopped_; }

  // Only the first mistake of a row is kept. The message is `file:row` followed by `what`.
  void mistake(std::string_view what);
  // The message is `file:row:column (name): found '...', expected ...`.
  void wrong_field(size_t column, std::string_view name, std::string_view found,
                   std::string_view expected);
  // Ends the reading because of a mistake in the file or in the parameters, even if is_lenient().
  // `message` is the whole message.
  void stop(const std::string& message);
  // Takes the findings of another table of the same log. Errors of that table end the reading, and
  // its skipped rows are reported.
  void take_over(const Findings& beside);
  // Leaves the row out. Rows are counted by their reason `what`, which must be a string literal.
  void leave_out(std::string_view what);
  // Counts the row as one that only adds data to the job of another row.
  void join() { joined_ += row_ok_ ? 1 : 0; }
  void remark(std::string_view what) {
    if (row_ok_) count(remarks_, what);
  }

  const std::vector<std::string>& errors() const { return errors_; }
  int64_t rows() const { return rows_; }  // rows begun by start_row()
  int64_t joined() const { return joined_; }
  int64_t skipped() const { return skipped_; }
  const std::string& first_skipped() const { return first_skipped_; }
  // Messages of the first skipped rows, at most kExamplesMax, including rows of other tables.
  const std::vector<std::string>& skipped_examples() const { return examples_; }
  // Notes about other tables, added by take_over().
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

// Returns the notes in this order: skipped rows, left-out rows, remarks, notes about other tables.
std::vector<TraceNote> notes_of(const Findings& findings);

}  // namespace traces
}  // namespace orrery
