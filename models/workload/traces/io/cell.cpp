#include "models/workload/traces/io/cell.hpp"

#include <charconv>
#include <chrono>
#include <cmath>

namespace orrery::traces {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::optional<Duration> parse_scientific(std::string_view text) {
  double seconds = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (status != std::errc{} || end != text.data() + text.size()) return {};
  if (!std::isfinite(seconds) || std::abs(seconds) >= 9.2e9) return {};
  const Duration magnitude = nearest_ns(std::abs(seconds));
  return seconds < 0 ? Duration{-magnitude.ns} : magnitude;
}

// The number in text[from, from + count); -1 if these characters are not `count` digits.
int digits(std::string_view text, size_t from, size_t count) {
  int value = 0;
  for (size_t i = from; i < from + count; ++i) {
    if (i >= text.size() || !is_digit(text[i])) return -1;
    value = value * 10 + (text[i] - '0');
  }
  return value;
}

std::optional<int64_t> parse_time_of_day(std::string_view text) {
  const int hour = digits(text, 0, 2);
  const int minute = digits(text, 3, 2);
  const int second = digits(text, 6, 2);
  if (text.size() != 8 || text[2] != ':' || text[5] != ':') return {};
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) return {};
  return hour * 3600 + minute * 60 + second;
}

}  // namespace

std::optional<int64_t> parse_integer(std::string_view text) {
  int64_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || end != text.data() + text.size()) return {};
  return value;
}

std::optional<int64_t> parse_whole(std::string_view text) {
  if (const auto value = parse_integer(text)) return value;
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_number = status == std::errc{} && end == text.data() + text.size();
  if (!is_number || !(std::abs(value) < 9e15) || value != std::floor(value)) return {};
  return static_cast<int64_t>(value);
}

std::optional<Duration> parse_seconds(std::string_view text) {
  std::string_view rest = text;
  const bool is_negative = rest.starts_with('-');
  if (is_negative) rest.remove_prefix(1);
  if (rest.empty() || !is_digit(rest.front())) return {};
  int64_t whole = 0;
  while (!rest.empty() && is_digit(rest.front())) {
    whole = whole * 10 + (rest.front() - '0');
    if (whole >= 9'200'000'000) return {};
    rest.remove_prefix(1);
  }
  int64_t ns = whole * kSecond;
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    if (rest.empty()) return {};
    for (int64_t unit = kSecond / 10; !rest.empty() && is_digit(rest.front()); unit /= 10) {
      ns += unit * (rest.front() - '0');
      rest.remove_prefix(1);
    }
  }
  if (rest.empty()) return Duration{is_negative ? -ns : ns};
  return rest.front() == 'e' || rest.front() == 'E' ? parse_scientific(text) : std::nullopt;
}

std::optional<Time> parse_date_time(std::string_view text) {
  if (text.size() < 10 || text[4] != '-' || text[7] != '-') return {};
  const int year = digits(text, 0, 4);
  const int month = digits(text, 5, 2);
  const int day = digits(text, 8, 2);
  if (year < 1970 || year > 2199 || month < 0 || day < 0) return {};
  const std::chrono::year_month_day date{std::chrono::year{year},
                                         std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
  if (!date.ok()) return {};
  int64_t seconds = std::chrono::sys_days{date}.time_since_epoch().count() * int64_t{86400};
  if (text.size() > 10) {
    if (text[10] != ' ' && text[10] != 'T') return {};
    const auto clock = parse_time_of_day(text.substr(11));
    if (!clock) return {};
    seconds += *clock;
  }
  return Time{seconds * kSecond};
}

std::optional<Time> parse_stamp(std::string_view text) {
  constexpr size_t kWhole = 19;  // 2020-04-01 12:00:00
  if (text.size() < kWhole) return {};
  const auto whole = parse_date_time(text.substr(0, kWhole));
  if (!whole) return {};
  std::string_view rest = text.substr(kWhole);
  if (rest.ends_with('Z')) {
    rest.remove_suffix(1);
  } else if (const size_t sign = rest.find_first_of("+-"); sign != std::string_view::npos) {
    const std::string_view offset = rest.substr(sign + 1);
    if (offset.size() != 5 || offset[2] != ':' || digits(offset, 0, 2) < 0 ||
        digits(offset, 3, 2) < 0) {
      return {};
    }
    rest = rest.substr(0, sign);
  }
  if (rest.empty()) return whole;
  if (rest.size() < 2 || rest.front() != '.') return {};
  int64_t ns = 0;
  int64_t unit = kSecond / 10;
  for (const char c : rest.substr(1)) {
    if (!is_digit(c)) return {};
    ns += unit * (c - '0');
    unit /= 10;
  }
  return Time{whole->ns + ns};
}

bool is_nothing(std::string_view text) {
  return text.empty() || text == "None" || text == "none" || text == "null" || text == "NULL" ||
         text == "nan" || text == "NaN" || text == "NA" || text == "NaT";
}

}  // namespace orrery::traces
