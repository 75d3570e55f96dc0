#include "models/workload/traces/io/json_tokens.hpp"

namespace orrery::traces {
namespace {

constexpr int kEnd = -1;

constexpr bool is_space(int c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

constexpr int hex_digit(int c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

int JsonTokens::peek() {
  if (block_.empty()) {
    block_ = source_.next_block();
    if (block_.empty()) return kEnd;
  }
  return static_cast<unsigned char>(block_.front());
}

void JsonTokens::take() {
  if (block_.front() == '\n') {
    ++row_;
    column_ = 0;
  }
  ++column_;
  block_.remove_prefix(1);
}

JsonTokens::Kind JsonTokens::fail(const std::string& what) {
  if (!error_) {
    complaint_ = ":" + std::to_string(column_) + ": " + what;
    error_ = source_.error().value_or(source_.name() + ":" + std::to_string(row_) + complaint_);
  }
  return Kind::Error;
}

void JsonTokens::resume() {
  for (int c = peek(); c != kEnd; c = peek()) {
    take();
    if (c == '\n') break;
  }
  nesting_.clear();
  expects_value_ = true;
  is_after_value_ = false;
  is_first_ = false;
  error_.reset();
}

bool JsonTokens::skip_space() {
  while (is_space(peek())) {
    if (is_lines_ && peek() == '\n' && !nesting_.empty()) return false;
    take();
  }
  return true;
}

JsonTokens::Kind JsonTokens::finish(Kind kind) {
  is_after_value_ = true;
  expects_value_ = false;
  is_first_ = false;
  return kind;
}

JsonTokens::Kind JsonTokens::next() {
  constexpr const char* kCut = "the line ends within a value";
  if (error_) return Kind::Error;
  if (!skip_space()) return fail(kCut);
  if (is_after_value_ && !nesting_.empty() && peek() == ',') {
    take();
    is_after_value_ = false;
    expects_value_ = nesting_.back() == '[';
    if (!skip_space()) return fail(kCut);
    if (peek() == '}' || peek() == ']') return fail("found a bracket after a comma");
  }
  token_row_ = row_;
  token_column_ = column_;
  const int c = peek();
  if (c == kEnd) {
    if (source_.error() || !nesting_.empty()) return fail("the JSON text ends too early");
    return Kind::End;
  }
  if (c == '}') return end('{', Kind::EndObject);
  if (c == ']') return end('[', Kind::EndArray);
  if (nesting_.empty()) return value(c);
  if (is_after_value_) return fail("expected ',' or a closing bracket");
  if (nesting_.back() == '[' || expects_value_) return value(c);
  if (c != '"') return fail("expected a key in quotes");
  if (read_string(Kind::Key) == Kind::Error) return Kind::Error;
  if (!skip_space()) return fail(kCut);
  if (peek() != ':') return fail("expected ':' after a key");
  take();
  expects_value_ = true;
  is_after_value_ = false;
  is_first_ = false;
  return Kind::Key;
}

JsonTokens::Kind JsonTokens::value(int c) {
  if (c == '{') return begin('{', Kind::BeginObject);
  if (c == '[') return begin('[', Kind::BeginArray);
  if (c == '"') return read_string(Kind::String);
  if (c == '-' || (c >= '0' && c <= '9')) return read_number();
  return read_word();
}

JsonTokens::Kind JsonTokens::begin(char bracket, Kind kind) {
  if (nesting_.size() >= kDepthMax) return fail("more than 64 brackets within each other");
  take();
  nesting_.push_back(bracket);
  expects_value_ = false;
  is_after_value_ = false;
  is_first_ = true;
  return kind;
}

JsonTokens::Kind JsonTokens::end(char bracket, Kind kind) {
  const bool fits = !nesting_.empty() && nesting_.back() == bracket;
  if (!fits || !(is_after_value_ || is_first_)) return fail("found a bracket out of place");
  take();
  nesting_.pop_back();
  return finish(kind);
}

JsonTokens::Kind JsonTokens::read_number() {
  text_.clear();
  for (int c = peek(); c != kEnd; c = peek()) {
    const bool is_part =
        (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
    if (!is_part) break;
    if (text_.size() >= kTextMax) return fail("a number of more than 4096 bytes");
    text_ += static_cast<char>(c);
    take();
  }
  return finish(Kind::Number);
}

JsonTokens::Kind JsonTokens::read_word() {
  text_.clear();
  for (int c = peek(); c >= 'a' && c <= 'z' && text_.size() < 8; c = peek()) {
    text_ += static_cast<char>(c);
    take();
  }
  if (text_ == "true") return finish(Kind::True);
  if (text_ == "false") return finish(Kind::False);
  if (text_ == "null") return finish(Kind::Null);
  return fail("expected a JSON value");
}

JsonTokens::Kind JsonTokens::read_string(Kind kind) {
  text_.clear();
  take();
  for (;;) {
    const int c = peek();
    if (c == kEnd) return fail("a string does not end");
    if (c < 0x20) return fail("a control character in a string");
    if (text_.size() >= kTextMax) return fail("a string of more than 4096 bytes");
    take();
    if (c == '"') return finish(kind);
    if (c != '\\') {
      text_ += static_cast<char>(c);
    } else if (!read_escape()) {
      return Kind::Error;
    }
  }
}

bool JsonTokens::read_escape() {
  const int c = peek();
  if (c == kEnd) return fail("a string does not end") != Kind::Error;
  if (c < 0x20) return fail("a control character in a string") != Kind::Error;
  take();
  switch (c) {
    case '"':
    case '\\':
    case '/':
      text_ += static_cast<char>(c);
      return true;
    case 'b':
      text_ += '\b';
      return true;
    case 'f':
      text_ += '\f';
      return true;
    case 'n':
      text_ += '\n';
      return true;
    case 'r':
      text_ += '\r';
      return true;
    case 't':
      text_ += '\t';
      return true;
    case 'u':
      return append_unicode();
    default:
      return fail("an unknown escape in a string") != Kind::Error;
  }
}

// Does not combine surrogate pairs, because names in traces have no such pairs.
bool JsonTokens::append_unicode() {
  unsigned code = 0;
  for (int i = 0; i < 4; ++i) {
    const int digit = hex_digit(peek());
    if (digit < 0) return fail("expected four hexadecimal digits") != Kind::Error;
    take();
    code = code * 16 + static_cast<unsigned>(digit);
  }
  if (code < 0x80) {
    text_ += static_cast<char>(code);
  } else if (code < 0x800) {
    text_ += static_cast<char>(0xC0U | (code >> 6U));
    text_ += static_cast<char>(0x80U | (code & 0x3FU));
  } else {
    text_ += static_cast<char>(0xE0U | (code >> 12U));
    text_ += static_cast<char>(0x80U | ((code >> 6U) & 0x3FU));
    text_ += static_cast<char>(0x80U | (code & 0x3FU));
  }
  return true;
}

void JsonTokens::skip(Kind first) {
  if (first != Kind::BeginObject && first != Kind::BeginArray) return;
  const size_t outside = nesting_.size() - 1;
  while (nesting_.size() > outside) {
    if (next() == Kind::Error) return;
  }
}

}  // namespace orrery::traces
