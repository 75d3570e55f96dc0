// sim/config/encoding.cpp -- a strict UTF-8 check with positions.
#include "sim/config/encoding.hpp"

#include <cstdint>

namespace orrery::config {
namespace {

// Length of the valid UTF-8 sequence at the start of `text`; 0 if invalid.
size_t sequence_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<uint8_t>(text[i])); };
  const uint32_t lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  uint32_t code = lead & (0x7FU >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return 0;
    code = (code << 6U) | (byte(i) & 0x3FU);
  }
  const bool is_overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
  return is_overlong || is_surrogate || code > 0x10FFFF ? 0 : length;
}

}  // namespace

std::optional<BadByte> find_bad_byte(std::string_view text) {
  int line = 1;
  size_t line_start = 0;
  const auto here = [&](size_t i, std::string message) {
    return BadByte{line, static_cast<int>(i - line_start) + 1, std::move(message)};
  };
  for (size_t i = 0; i < text.size();) {
    const auto byte = static_cast<uint8_t>(text[i]);
    if (byte == 0) return here(i, "a NUL byte; is this a text file?");
    if ((byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') || byte == 0x7F) {
      return here(i, "a control character (byte " + std::to_string(byte) + ")");
    }
    const size_t length = sequence_length(text.substr(i));
    if (length == 0) return here(i, "not UTF-8 (byte " + std::to_string(byte) + ")");
    i += length;
    if (byte == '\n') {
      ++line;
      line_start = i;
    }
  }
  return std::nullopt;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = sequence_length(text);
    if (length == 0 || text[0] == '\0') return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace orrery::config
