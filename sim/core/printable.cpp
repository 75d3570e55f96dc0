#include "sim/core/printable.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace orrery {
namespace {

constexpr char32_t kNone = 0xFFFFFFFF;  // the bytes are no UTF-8

struct Character {
  char32_t point = kNone;
  size_t bytes = 1;
  bool is_cut_off = false;  // the character may continue after the end of the text
};

size_t length_by(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead < 0xE0) return 2;
  if (lead >= 0xE0 && lead < 0xF0) return 3;
  return lead >= 0xF0 && lead < 0xF5 ? 4 : 0;
}

// Whether UTF-8 may encode this code point in `length` bytes: not overlong, no surrogate, at
// most U+10FFFF.
bool is_sound(char32_t point, size_t length) {
  if (length == 3) return point >= 0x800 && (point < 0xD800 || point > 0xDFFF);
  return length != 4 || (point >= 0x10000 && point <= 0x10FFFF);
}

Character first_of(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const size_t length = length_by(byte(0));
  if (length == 0) return {};
  char32_t point = length == 1 ? byte(0) : byte(0) & (0x7FU >> length);
  for (size_t i = 1; i < length; ++i) {
    if (i == text.size()) return {.is_cut_off = true};
    if ((byte(i) & 0xC0U) != 0x80) return {};
    point = point << 6U | (byte(i) & 0x3FU);
  }
  if (!is_sound(point, length)) return {};
  return {.point = point, .bytes = length};
}

constexpr bool is_between(char32_t point, char32_t low, char32_t high) {
  return point >= low && point <= high;
}

bool is_plain(char32_t point) {
  const bool is_control = point < 0x20 || is_between(point, 0x7F, 0x9F);
  const bool reorders = point == 0x061C || is_between(point, 0x200E, 0x200F) ||
                        is_between(point, 0x202A, 0x202E) || is_between(point, 0x2066, 0x2069);
  const bool separates_lines = is_between(point, 0x2028, 0x2029);
  return !is_control && !reorders && !separates_lines && point != kNone;
}

std::string escaped(const Character& character, char byte) {
  if (character.point == '\n') return "\\n";
  if (character.point == '\t') return "\\t";
  std::array<char, 8> text{};
  const bool is_byte = character.point == kNone || character.point < 0x80;
  std::snprintf(text.data(), text.size(), is_byte ? "\\x%02x" : "\\u%04x",
                is_byte ? static_cast<unsigned>(static_cast<unsigned char>(byte))
                        : static_cast<unsigned>(character.point));
  return text.data();
}

// Removes all characters from `text` and returns them, except a truncated character at the end.
// Unsafe characters that are not in `kept` are escaped.
std::string take_printable(std::string_view& text, std::string_view kept) {
  std::string shown;
  while (!text.empty()) {
    const Character character = first_of(text);
    if (character.is_cut_off) break;
    const std::string_view bytes = text.substr(0, character.bytes);
    const bool stays = is_plain(character.point) || kept.find(bytes) != std::string_view::npos;
    shown += stays ? std::string{bytes} : escaped(character, bytes.front());
    text.remove_prefix(character.bytes);
  }
  return shown;
}

// Escapes the bytes of a truncated character.
std::string broken_off(std::string_view bytes) {
  std::string shown;
  for (const char byte : bytes) shown += escaped({}, byte);
  return shown;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string shown = take_printable(text, "");
  return shown += broken_off(text);
}

PrintableStream::~PrintableStream() {
  const std::string rest = broken_off(cut_off_);
  target_->sputn(rest.data(), static_cast<std::streamsize>(rest.size()));
  const std::ios_base::iostate state = stream_.rdstate();
  stream_.rdbuf(target_);  // rdbuf() clears the error state
  stream_.setstate(state);
}

std::streamsize PrintableStream::xsputn(const char* text, std::streamsize size) {
  cut_off_.append(text, static_cast<size_t>(size));
  std::string_view rest = cut_off_;
  const std::string shown = take_printable(rest, "\n\t\r");
  cut_off_.erase(0, cut_off_.size() - rest.size());
  const auto length = static_cast<std::streamsize>(shown.size());
  return target_->sputn(shown.data(), length) == length ? size : 0;
}

std::streambuf::int_type PrintableStream::overflow(int_type c) {
  if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
  const char byte = traits_type::to_char_type(c);
  return xsputn(&byte, 1) == 1 ? c : traits_type::eof();
}

int PrintableStream::sync() { return target_->pubsync(); }

}  // namespace orrery
