// sim/core/enum_names.hpp -- one list of an enum's names for YAML, HDF5, docs and messages.
//
//   enum class State : uint8_t { Idle, Busy };  // dense, from 0
//   constexpr std::array<std::string_view, 2> enum_names(State) { return {"idle", "busy"}; }
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>

namespace orrery {

template <class E>
concept NamedEnum = std::is_enum_v<E> && requires(E e) {
  enum_names(e).size();
};

template <NamedEnum E>
constexpr std::string_view name_of(E value) {
  return enum_names(value)[static_cast<size_t>(value)];
}

}  // namespace orrery
