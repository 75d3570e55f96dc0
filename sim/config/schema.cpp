// sim/config/schema.cpp -- a field tree as JSON Schema draft-07, for editors.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/config/describe.hpp"

namespace orrery {
namespace {

using Json = nlohmann::ordered_json;

// Whole: the required keys of the field must be in this document. This applies to fields inside of
// lists, maps, variants and RawParams. OfIncluding: the required keys may also be in a file that
// the document names in `include`. This applies to all other fields.
enum class Part : bool { Whole, OfIncluding };

Json shape_of(const FieldTree& field, Part part = Part::Whole);

// Whether the key of the field must be present: the field is required, or is a struct that contains
// a required key, or a variant whose default kind contains one.
bool needs_value(const FieldTree& field) {
  const auto any = [](const FieldTree& tree) {
    return std::any_of(tree.children.begin(), tree.children.end(), needs_value);
  };
  if (field.required) return true;
  if (field.shape == FieldShape::Variant) {  // without a choice, the default kind applies
    return std::any_of(field.variants.begin(), field.variants.end(), [&](const FieldTree& kind) {
      return kind.name == field.default_text && any(kind);
    });
  }
  return field.shape == FieldShape::Struct && any(field);
}

std::string description(const FieldTree& field) {
  std::string text = field.doc;
  const auto add = [&text](std::string_view label, const std::string& value) {
    if (!value.empty())
      text.append(text.empty() ? "" : " ").append(label).append(value).append(".");
  };
  add("Unit: ", field.shape == FieldShape::Quantity ? "" : field.unit);
  add("Range: ", field.range_text);
  add("Default: ", field.default_text);
  add("Basis of the default: ", field.source);
  return text;
}

Json property(const FieldTree& field, Part part) {
  Json schema = shape_of(field, part);
  if (const std::string text = description(field); !text.empty()) schema["description"] = text;
  if (!field.default_json.empty()) schema["default"] = Json::parse(field.default_json);
  if (!field.example.empty()) schema["examples"] = Json::array({field.example});
  return schema;
}

Json object(const FieldTree& tree, const std::string& kind, Part part = Part::Whole);

// The schema of a RawParams field, depending on the field `name` beside it.
Json rules_by_name(const FieldTree& raw) {
  Json rules = Json::array();
  for (const FieldTree& named : raw.variants) {
    Json is_named{{"properties", {{"name", {{"const", named.name}}}}}};
    Json holds{{"properties", {{raw.name, object(named, "")}}}};
    rules.push_back({{"if", std::move(is_named)}, {"then", std::move(holds)}});
  }
  return rules;
}

Json object(const FieldTree& tree, const std::string& kind, Part part) {
  Json properties = Json::object();
  Json required = Json::array();
  if (!kind.empty()) {
    properties["kind"] = Json{{"const", kind}};
    required.push_back("kind");
  }
  for (const FieldTree& child : tree.children) {
    properties[child.name] = property(child, part);
    if (part == Part::Whole && needs_value(child)) required.push_back(child.name);
  }
  Json schema;
  // An empty section means its defaults, unless something in it is required.
  schema["type"] = required.empty() ? Json::array({"object", "null"}) : Json("object");
  schema["properties"] = std::move(properties);
  schema["additionalProperties"] = tree.takes_more;
  for (const FieldTree& child : tree.children) {
    if (child.shape != FieldShape::Raw || child.variants.empty()) continue;
    schema["allOf"] = rules_by_name(child);
  }
  if (!required.empty()) schema["required"] = std::move(required);
  return schema;
}

Json number(const FieldTree& field, const char* type) {
  Json schema{{"type", type}};
  if (!field.minimum.empty()) schema["minimum"] = Json::parse(field.minimum);
  if (!field.maximum.empty()) schema["maximum"] = Json::parse(field.maximum);
  return schema;
}

Json variant(const FieldTree& field, Part part) {
  Json kinds = Json::array();
  for (const FieldTree& kind : field.variants) {
    Json schema = object(kind, kind.name);
    if (!kind.doc.empty()) schema["description"] = kind.doc;
    kinds.push_back(std::move(schema));
  }
  kinds.push_back(Json{{"type", "null"}});
  Json schema{{"oneOf", std::move(kinds)}};
  if (part == Part::Whole) return schema;
  // A map without `kind` is allowed, because an included file may have the kind.
  Json rest{{"type", "object"}, {"not", {{"required", {"kind"}}}}};
  return Json{{"anyOf", {std::move(schema), std::move(rest)}}};
}

Json shape_of(const FieldTree& field, Part part) {
  switch (field.shape) {
    case FieldShape::Boolean:
      return Json{{"type", "boolean"}};
    case FieldShape::Integer:
      return number(field, "integer");
    case FieldShape::Real:
      return number(field, "number");
    case FieldShape::Text:  // the reader also takes a plain number or boolean as text
      return Json{{"type", Json::array({"string", "number", "boolean"})}};
    case FieldShape::Quantity: {
      const Json text{{"type", "string"}, {"pattern", field.pattern}};
      return Json{{"anyOf", Json::array({text, Json{{"enum", Json::array({0, "0"})}}})}};
    }
    case FieldShape::Enum:
      return Json{{"enum", field.enum_values}};
    case FieldShape::Struct:
      return object(field, "", part);
    case FieldShape::List:
      return Json{{"type", "array"}, {"items", shape_of(field.children[0])}};
    case FieldShape::Map:
      return Json{{"type", "object"}, {"additionalProperties", shape_of(field.children[0])}};
    case FieldShape::Optional:
      return Json{
          {"anyOf", Json::array({shape_of(field.children[0], part), Json{{"type", "null"}}})}};
    case FieldShape::Variant:
      return variant(field, part);
    case FieldShape::Raw:
      break;
  }
  return Json::object();
}

// Rules that require keys, for a document without `include`. Null if no key is required.
Json required_in(const FieldTree& field) {
  if (field.shape == FieldShape::Optional) return required_in(field.children[0]);
  if (field.shape == FieldShape::Variant) return Json{{"required", {"kind"}}};
  if (field.shape != FieldShape::Struct) return nullptr;
  Json required = Json::array(), properties = Json::object();
  for (const FieldTree& child : field.children) {
    if (needs_value(child)) required.push_back(child.name);
    if (Json below = required_in(child); !below.is_null()) properties[child.name] = below;
  }
  if (required.empty() && properties.empty()) return nullptr;
  Json rules = Json::object();
  if (needs_value(field)) rules["type"] = "object";
  if (!required.empty()) rules["required"] = std::move(required);
  if (!properties.empty()) rules["properties"] = std::move(properties);
  return rules;
}

}  // namespace

std::string to_json_schema(const FieldTree& root, const std::string& title) {
  Json schema{{"$schema", "http://json-schema.org/draft-07/schema#"}, {"title", title}};
  if (!root.doc.empty()) schema["description"] = root.doc;
  schema.update(shape_of(root, Part::OfIncluding));
  if (root.shape == FieldShape::Struct) {
    const Json file{{"type", "string"}};
    const Json files{{"type", "array"}, {"items", file}};
    schema["properties"]["include"] =
        Json{{"description",
              "Files to include, relative to this one. This document's values replace theirs."},
             {"anyOf", Json::array({file, files})}};
    if (Json required = required_in(root); !required.is_null()) {
      schema["if"] = Json{{"not", {{"required", {"include"}}}}};
      schema["then"] = std::move(required);
    }
  }
  return schema.dump(2);
}

}  // namespace orrery
