// sim/config/quantity.cpp -- exact decimal arithmetic on quantities with units.
#include "sim/config/quantity.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "sim/config/diagnostics.hpp"
#include "sim/core/int128.hpp"

namespace orrery {
namespace config {
namespace {

constexpr int64_t kS = 1'000'000'000;
constexpr std::array<UnitScale, 7> kDurationUnits{{{"ns", 1},
                                                   {"us", 1'000},
                                                   {"ms", 1'000'000},
                                                   {"s", kS},
                                                   {"min", 60 * kS},
                                                   {"h", 3600 * kS},
                                                   {"d", 86400 * kS}}};
constexpr std::array<UnitScale, 11> kByteUnits{{{"B", 1},
                                                {"kB", 1'000},
                                                {"KiB", int64_t{1} << 10},
                                                {"MB", 1'000'000},
                                                {"MiB", int64_t{1} << 20},
                                                {"GB", 1'000'000'000},
                                                {"GiB", int64_t{1} << 30},
                                                {"TB", 1'000'000'000'000},
                                                {"TiB", int64_t{1} << 40},
                                                {"PB", 1'000'000'000'000'000},
                                                {"PiB", int64_t{1} << 50}}};
constexpr std::array<UnitScale, 8> kBandwidthUnits{{{"bps", 1},
                                                    {"Kbps", 1'000},
                                                    {"Mbps", 1'000'000},
                                                    {"Gbps", 1'000'000'000},
                                                    {"Tbps", 1'000'000'000'000},
                                                    {"MBps", 8'000'000, false},
                                                    {"GBps", 8'000'000'000, false},
                                                    {"TBps", 8'000'000'000'000, false}}};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// A decimal number as digits * 10^-fraction.
struct Decimal {
  int128_t digits = 0;
  int fraction = 0;
  size_t length = 0;  // characters used; 0 if the text is not a number
  bool is_long = false;
};

Decimal parse_decimal(std::string_view text) {
  constexpr int kDigitsMax = 20;  // this many digits times the largest scale fit into 128 bits
  Decimal d;
  size_t i = 0;
  int kept = 0;
  // Trailing zeros of the fraction so far, kept only if a nonzero digit follows.
  int zeros = 0;
  const auto take = [&](char c) {
    d.digits = d.digits * 10 + (c - '0');
    if (d.digits != 0 && ++kept > kDigitsMax) d.is_long = true;
  };
  for (; i < text.size() && is_digit(text[i]) && !d.is_long; ++i) take(text[i]);
  if (i == 0) return d;
  if (i + 1 < text.size() && text[i] == '.' && is_digit(text[i + 1])) {
    for (++i; i < text.size() && is_digit(text[i]) && !d.is_long; ++i) {
      if (text[i] == '0') {
        ++zeros;
        continue;
      }
      for (; zeros > 0 && !d.is_long; --zeros, ++d.fraction) take('0');
      take(text[i]);
      if (++d.fraction > kDigitsMax) d.is_long = true;
    }
  }
  while (i < text.size() && is_digit(text[i])) ++i;
  d.length = i;
  return d;
}

}  // namespace

const Measure kDurationMeasure{"duration", "250us or 2h",   "ns",
                               "0s",       kDurationMax.ns, kDurationUnits};
const Measure kBytesMeasure{"size", "80GiB or 512kB", "B", "0B", kBytesMax.count, kByteUnits};
const Measure kBandwidthMeasure{"bandwidth", "400Gbps or 900GBps",     "bps",
                                "0bps",      kBandwidthMax.bits_per_s, kBandwidthUnits};

ParsedQuantity parse_quantity(std::string_view text, const Measure& measure) {
  const auto complain = [&](std::string_view reason) {
    return ParsedQuantity{0, "expected a " + std::string{measure.name} + " such as " +
                                 std::string{measure.examples} + ", got " + in_quotes(text) +
                                 std::string{reason}};
  };
  const bool is_negative = text.starts_with('-');
  const std::string_view number = text.substr(is_negative ? 1 : 0);
  const Decimal decimal = parse_decimal(number);
  if (decimal.length == 0) return complain("");
  std::string_view name = number.substr(decimal.length);
  while (name.starts_with(' ')) name.remove_prefix(1);
  if (name.empty()) {
    if (decimal.digits == 0) return {};
    return complain(" without a unit");
  }
  const auto unit = std::find_if(measure.units.begin(), measure.units.end(),
                                 [name](const UnitScale& u) { return u.name == name; });
  if (unit == measure.units.end()) return complain("");
  if (decimal.is_long) return complain(", which has too many digits");
  int128_t value = decimal.digits * unit->scale;
  for (int i = 0; i < decimal.fraction; ++i) {
    if (value % 10 != 0) {
      return complain(", which is not a whole number of " + std::string{measure.smallest});
    }
    value /= 10;
  }
  if (is_negative) value = -value;
  using Limit = std::numeric_limits<int64_t>;
  if (value > Limit::max() || value < Limit::min()) return complain(", which is too large");
  return {static_cast<int64_t>(value), ""};
}

std::string format_quantity(int64_t value, const Measure& measure) {
  if (value == 0) return std::string{measure.zero};
  const UnitScale* best = &measure.units.front();  // the unit of scale 1, which divides every value
  for (const UnitScale& unit : measure.units) {
    if (unit.is_written && value % unit.scale == 0 && unit.scale > best->scale) best = &unit;
  }
  return std::to_string(value / best->scale) + std::string{best->name};
}

std::string quantity_pattern(const Measure& measure, bool may_be_negative) {
  std::string names;
  for (const UnitScale& unit : measure.units)
    names.append(names.empty() ? "" : "|").append(unit.name);
  return std::string{may_be_negative ? "^-?" : "^"} + "[0-9]+(\\.[0-9]+)? *(" + names + ")$";
}

}  // namespace config

std::string format_quantity(Duration value) {
  return config::format_quantity(value.ns, config::kDurationMeasure);
}
std::string format_quantity(Bytes value) {
  return config::format_quantity(value.count, config::kBytesMeasure);
}
std::string format_quantity(Bandwidth value) {
  return config::format_quantity(value.bits_per_s, config::kBandwidthMeasure);
}

}  // namespace orrery
