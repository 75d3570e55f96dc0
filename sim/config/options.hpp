// sim/config/options.hpp -- options of a field, such as its range, unit and source.
#pragma once

#include <concepts>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include "sim/core/int128.hpp"
#include "sim/core/time.hpp"

namespace orrery {

template <class T>
struct Range {  // both ends are allowed
  T low, high;
};
template <class T>
Range(T, T) -> Range<T>;

struct Source {  // source of the default
  std::string_view text;
};
struct Unit {  // unit of a plain number; quantities have units in their values
  std::string_view text;
};
struct Example {
  std::string_view text;
};
struct Required {};
struct IsFile {};     // marks a text as a path relative to the document
struct IsInstant {};  // marks a duration as an instant, counted from the start of the run

// The field has an effect only while a condition holds. `otherwise` says why the field has no
// effect if the condition does not hold. The condition may be a fact of the whole document, that
// is, an enumerator with a function `why_not(fact)`:
//   v("losses", losses, "Servers that are lost.", Heeded{Fact::FullPlane});
// The fact may be needed only for some values of the struct, here only if `steps` is Traced:
//   v("steps", steps, "How steps are simulated.", Heeded{Fact::Steps, steps == Detail::Traced});
// The condition may concern the struct alone:
//   v("sigma", sigma, "Spread.", Heeded{median > Duration{}, "median is 0"});
struct Heeded {
  template <class Fact>
  requires std::is_enum_v<Fact>
  constexpr explicit Heeded(Fact needed, bool is_asked = true)
      : Heeded{needed, is_asked, why_not(needed)} {}
  template <class Fact>
  requires std::is_enum_v<Fact>
  constexpr Heeded(Fact needed, bool is_asked, std::string_view why)
      : otherwise{why}, fact{static_cast<int>(needed)}, is_heeded{!is_asked} {}
  constexpr Heeded(bool holds, std::string_view why_not) : otherwise{why_not}, is_heeded{holds} {}

  std::string_view otherwise;
  int fact = -1;           // -1 if no fact is needed
  bool is_heeded = false;  // the struct alone decides that the field has an effect
};

namespace config {

// A Range without its type. Real numbers are in real_low and real_high, whole numbers in low and
// high. Quantities are whole numbers, too: counts of the smallest unit.
struct Bounds {
  bool is_real = false;
  int128_t low = 0, high = 0;
  double real_low = 0, real_high = 0;
};

struct FieldOptions {
  std::optional<Bounds> bounds;
  std::string_view source, unit, example;
  bool is_required = false;
  bool is_file_name = false;
  bool is_instant = false;
  std::vector<Heeded> heeded;  // all must hold

  template <class T>
  void take(const Range<T>& range) {
    Bounds b;
    if constexpr (std::floating_point<T>) {
      b.is_real = true;
      b.real_low = range.low;
      b.real_high = range.high;
    } else if constexpr (std::same_as<T, Duration>) {
      b.low = range.low.ns;
      b.high = range.high.ns;
    } else if constexpr (std::same_as<T, Bytes>) {
      b.low = range.low.count;
      b.high = range.high.count;
    } else if constexpr (std::same_as<T, Bandwidth>) {
      b.low = range.low.bits_per_s;
      b.high = range.high.bits_per_s;
    } else {
      static_assert(std::integral<T>, "a Range is of numbers or quantities");
      b.low = range.low;
      b.high = range.high;
    }
    bounds = b;
  }
  void take(Source s) { source = s.text; }
  void take(Unit u) { unit = u.text; }
  void take(Example e) { example = e.text; }
  void take(Required) { is_required = true; }
  void take(IsFile) { is_file_name = true; }
  void take(IsInstant) { is_instant = true; }
  void take(const Heeded& one) { heeded.push_back(one); }
};

}  // namespace config
}  // namespace orrery
