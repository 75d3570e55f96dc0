// models/workload/traces/io/json_tokens.hpp -- the tokens of a JSON text, one at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/workload/traces/io/text_source.hpp"

namespace orrery::traces {

// The text is streamed, because one array may have gigabytes. next() returns Error where the text
// stops being well-formed JSON, but it accepts malformed numbers, such as 1.2.3. Several values may
// follow each other, as in JSON Lines.
class JsonTokens {
 public:
  enum class Kind : uint8_t {
    BeginObject,
    EndObject,
    BeginArray,
    EndArray,
    Key,
    String,
    Number,
    True,
    False,
    Null,
    End,   // end of the text
    Error  // see error()
  };
  static constexpr size_t kDepthMax = 64;
  static constexpr size_t kTextMax = 4096;  // bytes of a string or number

  // With `is_lines`, a value must end on the line where it begins, as in JSON Lines.
  explicit JsonTokens(TextSource source, bool is_lines = false)
      : source_{std::move(source)}, is_lines_{is_lines} {}

  Kind next();
  // The text of the last key, string or number; valid until the next call.
  std::string_view text() const { return text_; }
  int64_t row() const { return token_row_; }        // where the last token begins
  int64_t column() const { return token_column_; }  // where the last token begins, in bytes, from 1
  size_t depth() const { return nesting_.size(); }
  const std::string& name() const { return source_.name(); }
  const std::optional<std::string>& error() const { return error_; }

  // After an error, continues with the next line.
  void resume();
  bool is_readable() const { return !source_.error(); }
  // The error without file name and row.
  std::string_view complaint() const { return complaint_; }

  // Skips the value whose first token was just read.
  void skip(Kind first);

 private:
  int peek();
  void take();
  Kind fail(const std::string& what);
  Kind read_string(Kind kind);
  Kind read_number();
  Kind read_word();
  Kind begin(char bracket, Kind kind);
  Kind end(char bracket, Kind kind);
  bool read_escape();
  bool append_unicode();
  Kind value(int c);
  Kind finish(Kind kind);
  bool skip_space();  // returns false if a line ends inside a value although `is_lines` is set

  TextSource source_;
  bool is_lines_;
  std::string_view block_;
  int64_t row_ = 1;
  int64_t column_ = 1;
  int64_t token_row_ = 1;
  int64_t token_column_ = 1;
  std::vector<char> nesting_;  // the open brackets, '{' or '['
  bool expects_value_ = true;  // at the start, after ':' in an object, after ',' in an array
  bool is_after_value_ = false;
  bool is_first_ = false;  // right after an opening bracket
  std::string text_;
  std::optional<std::string> error_;
  std::string complaint_;
};

}  // namespace orrery::traces
