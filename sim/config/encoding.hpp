// sim/config/encoding.hpp -- rejects text that is not clean UTF-8 before a parser reads it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace orrery::config {

struct BadByte {
  int line = 0;
  int column = 0;
  std::string message;
};

// The first byte that is not UTF-8 or is a control character (except tabs and line ends).
[[nodiscard]] std::optional<BadByte> find_bad_byte(std::string_view text);

// Whether the text is UTF-8 without NUL. Other control characters are allowed, because escapes in
// YAML can produce them.
[[nodiscard]] bool is_utf8(std::string_view text);

}  // namespace orrery::config
