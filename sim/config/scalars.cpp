// sim/config/scalars.cpp -- numbers through std::from_chars and std::to_chars.
#include "sim/config/scalars.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "sim/core/check.hpp"

namespace orrery::config {

namespace {

size_t digits_at(std::string_view text, size_t from) {
  const size_t end = std::min(text.find_first_not_of("0123456789", from), text.size());
  return end - std::min(from, end);
}

bool is_json_number(std::string_view text) {
  size_t i = text.starts_with('-') ? 1 : 0;
  const size_t whole = digits_at(text, i);
  if (whole == 0 || (whole > 1 && text[i] == '0')) return false;
  i += whole;
  if (i < text.size() && text[i] == '.') {
    const size_t fraction = digits_at(text, i + 1);
    if (fraction == 0) return false;
    i += 1 + fraction;
  }
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    ++i;
    if (i < text.size() && (text[i] == '+' || text[i] == '-')) ++i;
    const size_t exponent = digits_at(text, i);
    if (exponent == 0) return false;
    i += exponent;
  }
  return i == text.size();
}

}  // namespace

ParsedInteger parse_integer(std::string_view text) {
  ParsedInteger parsed;
  if (!is_json_number(text)) return parsed;
  if (text.starts_with('-')) {
    parsed.is_negative = true;
    text.remove_prefix(1);
  }
  parsed.is_integer = digits_at(text, 0) == text.size();
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.is_integer && error == std::errc{}) parsed.magnitude = value;
  return parsed;
}

std::optional<double> parse_real(std::string_view text) {
  if (!is_json_number(text)) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && std::isfinite(value) ? std::optional{value} : std::nullopt;
}

std::optional<bool> parse_boolean(std::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  return std::nullopt;
}

std::string format_real(double value) {
  ORRERY_CHECK(std::isfinite(value), "a parameter is a finite number");
  std::array<char, 32> buffer{};
  const auto [end, error] = std::to_chars(buffer.begin(), buffer.end(), value);
  ORRERY_CHECK(error == std::errc{}, "32 characters hold any double");
  return {buffer.begin(), end};
}

bool is_bare_json(std::string_view text) { return parse_boolean(text) || parse_real(text); }

}  // namespace orrery::config
