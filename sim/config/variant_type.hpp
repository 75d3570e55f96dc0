// sim/config/variant_type.hpp -- std::variant of params structs; the key `kind` chooses one.
#pragma once

#include "sim/config/type_of.hpp"

namespace orrery::config {

template <class... Ps>
struct TypeFor<std::variant<Ps...>> {
  using Value = std::variant<Ps...>;
  class Type final : public VariantType {
    const std::vector<Alternative>& alternatives() const override {
      static const std::vector<Alternative> kAll{{Ps::kKind, type_of<Ps>()}...};
      return kAll;
    }
    size_t index(const void* value) const override {
      return static_cast<const Value*>(value)->index();
    }
    void* held(void* value) const override {
      return std::visit([](auto& p) -> void* { return &p; }, *static_cast<Value*>(value));
    }
    const void* held(const void* value) const override {
      return std::visit([](const auto& p) -> const void* { return &p; },
                        *static_cast<const Value*>(value));
    }
    void select(void* value, size_t index) const override {
      auto& variant = *static_cast<Value*>(value);
      if (variant.index() == index) return;
      size_t i = 0;
      ((i++ == index ? static_cast<void>(variant.template emplace<Ps>()) : void()), ...);
    }
    std::shared_ptr<const void> sample(size_t index) const override {
      std::shared_ptr<const void> made;
      size_t i = 0;
      ((i++ == index ? static_cast<void>(made = std::make_shared<Ps>()) : void()), ...);
      return made;
    }
  };
};

}  // namespace orrery::config
