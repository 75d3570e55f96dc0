// sim/config/scalar_types.cpp -- reading, writing and describing parameters with a single value.
#include <limits>

#include "sim/config/fields.hpp"
#include "sim/config/file_names.hpp"
#include "sim/config/quantity.hpp"
#include "sim/config/scalars.hpp"

namespace orrery::config {
namespace {

void expected(std::string_view what, const Node& node, const ReadContext& context) {
  std::string message = "expected " + std::string{what} + ", got " + what_is(node);
  if (node.is_scalar() && node.was_quoted) message += " in quotes";
  context.diagnostics.error(node.position, context.path, std::move(message));
}

std::string number_text(int128_t value) {  // holds int64_t as well as uint64_t
  if (value < 0) return "-" + std::to_string(static_cast<uint64_t>(-value));
  return std::to_string(static_cast<uint64_t>(value));
}

// Example results: "between 1 and 1024", "at least 1", "at most 9", "8" (for low == high), "".
std::string span_text(const std::string& low, const std::string& high, bool has_low,
                      bool has_high) {
  if (has_low && has_high) return low == high ? low : "between " + low + " and " + high;
  if (has_low) return "at least " + low;
  return has_high ? "at most " + high : "";
}

std::string with_unit(std::string text, const FieldOptions& options) {
  if (!text.empty() && !options.unit.empty()) text.append(" ").append(options.unit);
  return text;
}

void out_of_range(const std::string& range, const Node& node, const ReadContext& context) {
  context.diagnostics.error(node.position, context.path,
                            "out of range: must be " + range + ", got " + in_quotes(node.text));
}

// The limits of an integer type, narrowed by the field's Range.
struct WholeBounds {
  int128_t low, high;
  bool has_low = false, has_high = false;
};

WholeBounds whole_bounds(int128_t type_low, int128_t type_high, const FieldOptions& options) {
  WholeBounds b{type_low, type_high};
  if (!options.bounds) return b;
  int128_t low = options.bounds->low;
  int128_t high = options.bounds->high;
  if (options.bounds->is_real) {
    low = static_cast<int128_t>(options.bounds->real_low);
    high = static_cast<int128_t>(options.bounds->real_high);
  }
  b.has_low = low > type_low;
  b.has_high = high < type_high;
  if (b.has_low) b.low = low;
  if (b.has_high) b.high = high;
  return b;
}

template <class T>
struct Codec;

template <class T>
requires std::integral<T> &&(!std::same_as<T, bool>)struct Codec<T> {
  static WholeBounds bounds(const FieldOptions& options) {
    return whole_bounds(std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), options);
  }
  static void read(const Node& node, const ReadContext& context, T& value) {
    const ParsedInteger parsed =
        node.is_scalar() && !node.was_quoted ? parse_integer(node.text) : ParsedInteger{};
    if (!parsed.is_integer) return expected("an integer", node, context);
    const WholeBounds b = bounds(context.options);
    if (parsed.magnitude) {
      const int128_t magnitude = *parsed.magnitude;
      const int128_t whole = parsed.is_negative ? -magnitude : magnitude;
      if (whole >= b.low && whole <= b.high) {
        value = static_cast<T>(whole);
        return;
      }
    }
    std::string range = span_text(number_text(b.low), number_text(b.high), b.has_low, b.has_high);
    if (range.empty()) range = span_text(number_text(b.low), number_text(b.high), true, true);
    out_of_range(with_unit(range, context.options), node, context);
  }
  static Node write(T value) { return make_scalar(std::to_string(value), false); }
  static void describe(const FieldOptions& options, FieldTree& tree) {
    const WholeBounds b = bounds(options);
    const bool is_unsigned = std::unsigned_integral<T>;
    tree.shape = FieldShape::Integer;
    tree.type = "integer";
    tree.unit = options.unit;
    tree.range_text = with_unit(
        span_text(number_text(b.low), number_text(b.high), b.has_low || is_unsigned, b.has_high),
        options);
    if (b.has_low || is_unsigned) tree.minimum = number_text(b.low);
    if (b.has_high) tree.maximum = number_text(b.high);
  }
};

template <>
struct Codec<bool> {
  static void read(const Node& node, const ReadContext& context, bool& value) {
    const auto parsed =
        node.is_scalar() && !node.was_quoted ? parse_boolean(node.text) : std::nullopt;
    if (!parsed) return expected("true or false", node, context);
    value = *parsed;
  }
  static Node write(bool value) { return make_scalar(value ? "true" : "false", false); }
  static void describe(const FieldOptions&, FieldTree& tree) {
    tree.shape = FieldShape::Boolean;
    tree.type = "true or false";
  }
};

template <>
struct Codec<double> {
  static std::string range(const FieldOptions& options, FieldTree* tree) {
    if (!options.bounds) return "";
    double low = options.bounds->real_low;
    double high = options.bounds->real_high;
    if (!options.bounds->is_real) {
      low = static_cast<double>(options.bounds->low);
      high = static_cast<double>(options.bounds->high);
    }
    const bool has_low = low > std::numeric_limits<double>::lowest();
    const bool has_high = high < std::numeric_limits<double>::max();
    const std::string low_text = has_low ? format_real(low) : "";
    const std::string high_text = has_high ? format_real(high) : "";
    if (tree != nullptr) tree->minimum = low_text;
    if (tree != nullptr) tree->maximum = high_text;
    return with_unit(span_text(low_text, high_text, has_low, has_high), options);
  }
  static bool is_inside(double value, const Bounds& b) {
    if (b.is_real) return value >= b.real_low && value <= b.real_high;
    return value >= static_cast<double>(b.low) && value <= static_cast<double>(b.high);
  }
  static void read(const Node& node, const ReadContext& context, double& value) {
    const auto parsed = node.is_scalar() && !node.was_quoted ? parse_real(node.text) : std::nullopt;
    if (!parsed) return expected("a finite number", node, context);
    const auto& b = context.options.bounds;
    if (b && !is_inside(*parsed, *b)) {
      return out_of_range(range(context.options, nullptr), node, context);
    }
    value = *parsed;
  }
  static Node write(double value) { return make_scalar(format_real(value), false); }
  static void describe(const FieldOptions& options, FieldTree& tree) {
    tree.shape = FieldShape::Real;
    tree.type = "number";
    tree.unit = options.unit;
    tree.range_text = range(options, &tree);
  }
};

template <>
struct Codec<std::string> {
  static void read(const Node& node, const ReadContext& context, std::string& value) {
    if (!node.is_scalar()) return expected("text", node, context);
    value = context.options.is_file_name ? resolved_file(node.text, node.position) : node.text;
  }
  static Node write(const std::string& value) { return make_scalar(value, true); }
  static void describe(const FieldOptions&, FieldTree& tree) {
    tree.shape = FieldShape::Text;
    tree.type = "text";
  }
};

int64_t& count_of(Duration& value) { return value.ns; }
int64_t& count_of(Bytes& value) { return value.count; }
int64_t& count_of(Bandwidth& value) { return value.bits_per_s; }
const Measure& measure_of(Duration) { return kDurationMeasure; }
const Measure& measure_of(Bytes) { return kBytesMeasure; }
const Measure& measure_of(Bandwidth) { return kBandwidthMeasure; }

template <class T>
requires requires(T t) { measure_of(t); }
struct Codec<T> {
  static WholeBounds bounds(const FieldOptions& options) {
    // A quantity for which no range is declared must not be negative.
    constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
    return whole_bounds(options.bounds ? kLeast : 0, measure_of(T{}).most, options);
  }
  static std::string range(const WholeBounds& b, bool has_low, bool has_high) {
    const Measure& measure = measure_of(T{});
    return span_text(format_quantity(static_cast<int64_t>(b.low), measure),
                     format_quantity(static_cast<int64_t>(b.high), measure), has_low, has_high);
  }
  static void read(const Node& node, const ReadContext& context, T& value) {
    const Measure& measure = measure_of(T{});
    if (!node.is_scalar()) {
      return expected(
          "a " + std::string{measure.name} + " such as " + std::string{measure.examples}, node,
          context);
    }
    const ParsedQuantity parsed = parse_quantity(node.text, measure);
    if (!parsed.complaint.empty()) {
      return context.diagnostics.error(node.position, context.path, parsed.complaint);
    }
    const WholeBounds b = bounds(context.options);
    if (parsed.value < b.low || parsed.value > b.high) {
      const bool tells_high = b.has_high || parsed.value > b.high;
      return out_of_range(range(b, b.has_low || b.low == 0, tells_high), node, context);
    }
    count_of(value) = parsed.value;
  }
  static Node write(T value) { return make_scalar(orrery::format_quantity(value), true); }
  static void describe(const FieldOptions& options, FieldTree& tree) {
    const Measure& measure = measure_of(T{});
    const WholeBounds b = bounds(options);
    tree.shape = FieldShape::Quantity;
    tree.type = measure.name;
    tree.range_text = range(b, b.has_low, b.has_high);
    for (const UnitScale& unit : measure.units) {
      tree.unit.append(tree.unit.empty() ? "" : " ").append(unit.name);
    }
    tree.pattern = quantity_pattern(measure, b.low < 0);
  }
};

template <>
struct Codec<RawParams> {
  static void read(const Node& node, const ReadContext& context, RawParams& value) {
    value = {node, context.path};
  }
  static Node write(const RawParams& value) { return value.node; }
  static void describe(const FieldOptions&, FieldTree& tree) {
    tree.shape = FieldShape::Raw;
    tree.type = "any";
  }
};

}  // namespace

template <class T>
void Scalar<T>::read(const Node& node, const ReadContext& context, void* value) const {
  Codec<T>::read(node, context, *static_cast<T*>(value));
}

template <class T>
void Scalar<T>::read_absent(const Position& at, const ReadContext& context, void* value) const {
  // RawParams are read later. Messages about mistakes then need the field's path and position.
  if constexpr (std::same_as<T, RawParams>) {
    auto& raw = *static_cast<RawParams*>(value);
    raw.path = context.path;
    if (raw.node.is_null()) raw.node.position = at;
  }
}

template <class T>
Node Scalar<T>::write(const void* value) const {
  return Codec<T>::write(*static_cast<const T*>(value));
}

template <class T>
void Scalar<T>::describe(const void*, const FieldOptions& options, FieldTree& tree) const {
  Codec<T>::describe(options, tree);
}

template class Scalar<bool>;
template class Scalar<int32_t>;
template class Scalar<int64_t>;
template class Scalar<uint32_t>;
template class Scalar<uint64_t>;
template class Scalar<double>;
template class Scalar<std::string>;
template class Scalar<Duration>;
template class Scalar<Bytes>;
template class Scalar<Bandwidth>;
template class Scalar<RawParams>;

}  // namespace orrery::config
