// sim/config/options.hpp -- what may be said about a field beside its name, default and doc string.
#pragma once

#include <concepts>
#include <optional>
#include <string_view>
#include <type_traits>

#include "sim/core/int128.hpp"
#include "sim/core/time.hpp"

namespace orrery {

template <class T>
struct Range {  // both ends are allowed
  T low, high;
};
template <class T>
Range(T, T) -> Range<T>;

struct Source {  // where the default comes from
  std::string_view text;
};
struct Unit {  // of a plain number; quantities carry theirs in the value
  std::string_view text;
};
struct Example {
  std::string_view text;
};
struct Required {};
struct IsFile {};  // of a text: relative to the document that names it

namespace config {

// A range without its type: whole numbers and counts of the smallest unit, or real numbers.
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
};

}  // namespace config
}  // namespace orrery
