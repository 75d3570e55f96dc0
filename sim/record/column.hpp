// sim/record/column.hpp -- the columns of a row struct: names, types, units, docs.
//
//   struct JobRow {
//     JobId job;
//     Time submitted;
//     int64_t gpus = 0;
//     static void columns(auto&& c) {
//       c("job", &JobRow::job, "identity");
//       c("submitted", &JobRow::submitted, "when it entered the queue");  // unit: ns, by its type
//       c("gpus", &JobRow::gpus, "GPUs asked for", "GPU");                // unit: given
//     }
//   };
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "sim/core/enum_names.hpp"
#include "sim/core/id.hpp"
#include "sim/core/time.hpp"

namespace orrery {

// How a column is stored. An Id is a uint32 in which 4294967295 means none.
enum class ColumnKind : uint8_t { Bool, Int, Uint, Float, Id, Enum, Text };

// The texts must live as long as the program, so they come from literals.
struct Column {
  std::string_view name, unit, doc;
  size_t offset = 0;  // offset in the row struct
  size_t bytes = 0;
  ColumnKind kind = ColumnKind::Int;
  bool is_signed = false;                          // whether an Enum's underlying type is signed
  std::span<const std::string_view> enum_names{};  // dense from 0; empty unless an Enum
};

// A short UTF-8 text inside a row, padded with zeros. A longer text is cut between characters.
template <size_t N>
struct FixedText {
  std::array<char, N> bytes{};

  constexpr FixedText() = default;
  // NOLINT: implicit, so that a string_view can be assigned to a field of this type.
  constexpr FixedText(std::string_view text) {
    size_t length = std::min(text.size(), N);
    if (length < text.size()) {
      while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0U) == 0x80U) --length;
    }
    std::copy_n(text.begin(), length, bytes.begin());
  }
  constexpr FixedText(const char* text) : FixedText{std::string_view{text}} {}  // NOLINT
  constexpr std::string_view view() const {
    const auto end = std::find(bytes.begin(), bytes.end(), '\0');
    return {bytes.data(), static_cast<size_t>(end - bytes.begin())};
  }
  constexpr bool operator==(const FixedText&) const = default;
};

template <ColumnKind K>
struct PlainColumn {
  static constexpr ColumnKind kind = K;
  static constexpr std::string_view unit = "";
};

template <class T>
struct ColumnType;  // specialised for every type that a row may hold
template <>
struct ColumnType<bool> : PlainColumn<ColumnKind::Bool> {};
template <class T>
requires(std::is_integral_v<T>) struct ColumnType<T>
    : PlainColumn<std::is_signed_v<T> ? ColumnKind::Int : ColumnKind::Uint> {
};
template <class T>
requires(std::is_same_v<T, float> || std::is_same_v<T, double>) struct ColumnType<T>
    : PlainColumn<ColumnKind::Float> {
};
template <NamedEnum E>
struct ColumnType<E> : PlainColumn<ColumnKind::Enum> {
  static constexpr auto names = enum_names(E{});
};
template <size_t N>
struct ColumnType<FixedText<N>> : PlainColumn<ColumnKind::Text> {};
template <class Tag>
struct ColumnType<Id<Tag>> : PlainColumn<ColumnKind::Id> {
  static constexpr std::string_view unit = "id";
};
template <>
struct ColumnType<Time> : PlainColumn<ColumnKind::Int> {
  static constexpr std::string_view unit = "ns";
};
template <>
struct ColumnType<Duration> : PlainColumn<ColumnKind::Int> {
  static constexpr std::string_view unit = "ns";
};
template <>
struct ColumnType<Bytes> : PlainColumn<ColumnKind::Int> {
  static constexpr std::string_view unit = "B";
};
template <>
struct ColumnType<Bandwidth> : PlainColumn<ColumnKind::Int> {
  static constexpr std::string_view unit = "bit/s";
};

// The columns of `Row`, in declaration order.
template <class Row>
std::vector<Column> columns_of() {
  static_assert(std::is_trivially_copyable_v<Row>, "rows are copied as bytes");
  std::vector<Column> columns;
  const Row probe{};
  Row::columns([&]<class T>(std::string_view name, T Row::*field, std::string_view doc,
                            std::string_view unit = ColumnType<T>::unit) {
    const auto* const row_at = reinterpret_cast<const char*>(&probe);
    const auto* const field_at = reinterpret_cast<const char*>(&(probe.*field));
    Column column{.name = name,
                  .unit = unit,
                  .doc = doc,
                  .offset = static_cast<size_t>(field_at - row_at),
                  .bytes = sizeof(T),
                  .kind = ColumnType<T>::kind};
    if constexpr (NamedEnum<T>) {
      column.is_signed = std::is_signed_v<std::underlying_type_t<T>>;
      column.enum_names = ColumnType<T>::names;
    }
    columns.push_back(column);
  });
  return columns;
}

}  // namespace orrery
