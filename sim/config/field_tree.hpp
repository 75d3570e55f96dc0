// sim/config/field_tree.hpp -- a parameter struct described as plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace orrery {

enum class FieldShape : uint8_t {
  Boolean,
  Integer,
  Real,
  Text,
  Quantity,
  Enum,
  Struct,
  List,
  Map,
  Optional,
  Variant,
  Raw
};

struct FieldTree {
  std::string name;
  FieldShape shape = FieldShape::Struct;
  std::string type;  // for people: "integer", "duration", "list of text"
  std::string unit;
  std::string default_text;      // empty for structs, whose fields have defaults
  std::string default_json;      // as JSON; empty without a default
  std::string range_text;        // "between 1 and 1024 jobs"
  std::string minimum, maximum;  // limits of a plain number
  std::string pattern;           // regular expression of a quantity
  std::string doc, source, example;
  std::string no_effect;  // the condition under which the field has no effect: "median is 0"
  bool required = false;
  bool takes_more = false;  // unknown keys of a Struct are allowed, because other code reads them
  std::vector<std::string> enum_values;
  std::vector<FieldTree> children;  // fields of a Struct; the one element of List, Map, Optional
  // Variant: a Struct for each kind, named after the kind. Raw, such as a policy's `args`: a Struct
  // for each value of the field `name` beside `args`, named after the value.
  std::vector<FieldTree> variants;
};

}  // namespace orrery
