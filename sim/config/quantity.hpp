// sim/config/quantity.hpp -- durations, sizes and rates as text, exact in both directions.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sim/core/time.hpp"

namespace orrery {

// No parameter may exceed these limits, whatever its Range. So the sum of any 29 durations, 63
// sizes or 9,223 bandwidths fits into 64 bits.
constexpr Duration kDurationMax = 3660_d;        // about ten years
constexpr Bytes kBytesMax = {int64_t{1} << 57};  // 128 PiB
constexpr Bandwidth kBandwidthMax = 1'000'000_Gbps;

// Writes a whole number of the largest possible unit, so that parsing the text gives the same
// value. Example: two minutes are "2min", but one and a half are "90s".
std::string format_quantity(Duration value);   // 250us
std::string format_quantity(Bytes value);      // 80GiB
std::string format_quantity(Bandwidth value);  // 400Gbps

namespace config {

struct UnitScale {
  std::string_view name;
  int64_t scale;
  bool is_written = true;  // false for a unit that is accepted, but not used in output
};

// The name and units of a kind of quantity.
struct Measure {
  std::string_view name;      // "duration"
  std::string_view examples;  // "250us or 2h"
  std::string_view smallest;  // the unit of scale 1
  std::string_view zero;      // "0s"
  int64_t most;               // upper limit of a parameter
  std::span<const UnitScale> units;
};
extern const Measure kDurationMeasure;
extern const Measure kBytesMeasure;
extern const Measure kBandwidthMeasure;

// What parse_quantity returns. "12.5ms" becomes 12,500,000, a count of the smallest unit. Decimals
// are exact: a value that is not a whole count of the smallest unit, or does not fit, is rejected,
// and `complaint` says why.
struct ParsedQuantity {
  int64_t value = 0;
  std::string complaint;
};
[[nodiscard]] ParsedQuantity parse_quantity(std::string_view text, const Measure& measure);
std::string format_quantity(int64_t value, const Measure& measure);
// A regular expression for JSON Schema. It matches a decimal number with a unit of the measure. A
// plain 0, which parse_quantity accepts, does not match. A value that is too large for
// parse_quantity matches.
std::string quantity_pattern(const Measure& measure, bool may_be_negative);

}  // namespace config
}  // namespace orrery
