// sim/config/type_of.hpp -- maps a C++ type to its ValueType, by templates.
#pragma once

#include <concepts>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "sim/config/value_type.hpp"
#include "sim/core/enum_names.hpp"

namespace orrery {

struct RawParams;

namespace config {

template <class P>
concept ParamsStruct = std::is_class_v<P> && requires(P& p, FieldList& v) {
  p.fields(v);
};

template <class T>
struct TypeFor;  // no definition for a type that cannot be a member of a params struct

template <class T>
const auto& type_of() {
  static const typename TypeFor<T>::Type kType;
  return kType;
}

template <class T>
class Scalar final : public ValueType {  // member functions are compiled once, in scalar_types.cpp
 public:
  void read(const Node& node, const ReadContext& context, void* value) const override;
  void read_absent(const Position& at, const ReadContext& context, void* value) const override;
  Node write(const void* value) const override;
  void describe(const void* value, const FieldOptions& options, FieldTree& tree) const override;
};

template <class T>
concept ScalarMember = std::same_as<T, bool> || std::same_as<T, int32_t> ||
    std::same_as<T, int64_t> || std::same_as<T, uint32_t> || std::same_as<T, uint64_t> ||
    std::same_as<T, double> || std::same_as<T, std::string> || std::same_as<T, Duration> ||
    std::same_as<T, Bytes> || std::same_as<T, Bandwidth> || std::same_as<T, RawParams>;

template <ScalarMember T>
struct TypeFor<T> {
  using Type = Scalar<T>;
};

template <NamedEnum E>
struct TypeFor<E> {
  class Type final : public EnumType {
    std::vector<std::string> names() const override {
      constexpr auto kNames = enum_names(E{});
      return {kNames.begin(), kNames.end()};
    }
    size_t get(const void* value) const override {
      return static_cast<size_t>(*static_cast<const E*>(value));
    }
    void set(void* value, size_t index) const override {
      *static_cast<E*>(value) = static_cast<E>(index);
    }
  };
};

template <class T>
struct TypeFor<std::vector<T>> {
  static_assert(!std::same_as<T, bool>, "std::vector<bool> has no elements one can point at");
  using Value = std::vector<T>;
  class Type final : public ListType {
    const ValueType& element() const override { return type_of<T>(); }
    void clear(void* value) const override { static_cast<Value*>(value)->clear(); }
    void* append(void* value) const override { return &static_cast<Value*>(value)->emplace_back(); }
    std::vector<const void*> parts(const void* value) const override {
      std::vector<const void*> all;
      for (const T& part : *static_cast<const Value*>(value)) all.push_back(&part);
      return all;
    }
    std::shared_ptr<const void> sample() const override { return std::make_shared<T>(); }
  };
};

template <class T>
struct TypeFor<std::map<std::string, T>> {
  using Value = std::map<std::string, T>;
  class Type final : public MapType {
    const ValueType& element() const override { return type_of<T>(); }
    void clear(void* value) const override { static_cast<Value*>(value)->clear(); }
    void* insert(void* value, const std::string& key) const override {
      return &(*static_cast<Value*>(value))[key];
    }
    std::vector<std::pair<std::string, const void*>> parts(const void* value) const override {
      std::vector<std::pair<std::string, const void*>> all;
      for (const auto& [key, part] : *static_cast<const Value*>(value))
        all.emplace_back(key, &part);
      return all;
    }
    std::shared_ptr<const void> sample() const override { return std::make_shared<T>(); }
  };
};

template <class T>
struct TypeFor<std::optional<T>> {
  using Value = std::optional<T>;
  class Type final : public OptionalType {
    const ValueType& element() const override { return type_of<T>(); }
    void clear(void* value) const override { static_cast<Value*>(value)->reset(); }
    void* fill(void* value) const override {
      auto& optional = *static_cast<Value*>(value);
      return optional ? &*optional : &optional.emplace();
    }
    const void* held(const void* value) const override {
      const auto& optional = *static_cast<const Value*>(value);
      return optional ? &*optional : nullptr;
    }
    std::shared_ptr<const void> sample() const override { return std::make_shared<T>(); }
  };
};

template <ParamsStruct P>
struct TypeFor<P> {
  class Type final : public StructType {
    void collect(void* value, FieldList& fields) const override {
      static_cast<P*>(value)->fields(fields);
    }
    void check([[maybe_unused]] const void* value,
               [[maybe_unused]] Checker& checker) const override {
      if constexpr (requires(const P& p) { p.check(checker); }) {
        static_cast<const P*>(value)->check(checker);
      }
    }
    std::string_view doc() const override {
      if constexpr (requires { P::kDoc; }) return P::kDoc;
      return {};
    }
    std::shared_ptr<const void> sample() const override { return std::make_shared<P>(); }
  };
};

}  // namespace config
}  // namespace orrery

#include "sim/config/variant_type.hpp"
