// sim/config/describe.hpp -- params structs as documentation, JSON Schema and resolved values.
#pragma once

#include <string>

#include "sim/config/field_tree.hpp"
#include "sim/config/fields.hpp"

namespace orrery {
namespace config {
FieldTree describe_root(const StructType& type, const void* defaults);
std::string to_json(const Node& node);       // indented by two; keys in the order of the node
std::string to_flow_text(const Node& node);  // a short form for people: [a, {b: 1}]
}  // namespace config

template <class P>
[[nodiscard]] FieldTree describe_params() {
  const P defaults;
  return config::describe_root(config::type_of<P>(), &defaults);
}

// The fields as aligned text. Each field is a line with its doc below; fields of nested structs are
// indented.
[[nodiscard]] std::string describe_text(const FieldTree& tree);

// JSON Schema (draft-07) for a whole document, which may have `include` at its top level.
[[nodiscard]] std::string to_json_schema(const FieldTree& root, const std::string& title);

// All parameters with their values, defaults included. The text is also YAML: reading it back gives
// the same parameters.
template <class P>
[[nodiscard]] std::string resolved_json(const P& params) {
  return config::to_json(config::type_of<P>().write(&params));
}

}  // namespace orrery
