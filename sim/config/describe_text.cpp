// sim/config/describe_text.cpp -- a field tree as aligned text for a terminal.
#include <algorithm>

#include "sim/config/describe.hpp"

namespace orrery {
namespace {

struct Row {
  std::string name;
  std::string type;
  std::string fallback;              // "required", or the default
  std::vector<std::string> remarks;  // lines below the row
};

std::string type_text(const FieldTree& field) {
  std::string text = field.type;
  const FieldTree* leaf = &field;
  while (leaf->shape == FieldShape::List || leaf->shape == FieldShape::Map ||
         leaf->shape == FieldShape::Optional) {
    leaf = &leaf->children[0];
  }
  std::string names;
  for (const std::string& name : leaf->enum_values) names += (names.empty() ? " " : " | ") + name;
  for (const FieldTree& kind : leaf->variants) names += (names.empty() ? " " : " | ") + kind.name;
  text += names;
  if (!leaf->range_text.empty()) return text + ", " + leaf->range_text;
  // Only plain numbers need the unit here: the values of a quantity contain it, as in 5s.
  if (leaf->shape != FieldShape::Quantity && !leaf->unit.empty()) text += " (" + leaf->unit + ")";
  return text;
}

void add_rows(const FieldTree& field, size_t depth, std::vector<Row>& rows);

// Wraps a remark between words. An example is never wrapped, so that it can be copied.
std::string wrapped(const std::string& remark, size_t indent) {
  constexpr size_t kWidth = 100;
  const std::string margin(indent, ' ');
  if (remark.starts_with("Example: ")) return margin + remark + "\n";
  std::string text, line = margin;
  for (size_t at = 0; at < remark.size();) {
    const size_t end = std::min(remark.find(' ', at), remark.size());
    const bool is_first = line.size() == indent;
    if (!is_first && line.size() + 1 + (end - at) > kWidth) {
      text += line + "\n";
      line = margin;
    } else if (!is_first) {
      line += ' ';
    }
    line.append(remark, at, end - at);
    at = end + 1;
  }
  return text + line + "\n";
}

// Adds the rows below a field. Struct: its fields. Variant: each kind, with the fields of the kind.
void add_inner(const FieldTree& field, size_t depth, std::vector<Row>& rows) {
  switch (field.shape) {
    case FieldShape::Struct:
      for (const FieldTree& child : field.children) add_rows(child, depth, rows);
      return;
    case FieldShape::List:
    case FieldShape::Map:
    case FieldShape::Optional:
      add_inner(field.children[0], depth, rows);
      return;
    case FieldShape::Variant:
      for (const FieldTree& kind : field.variants) {
        Row row{std::string(depth * 2, ' ') + "kind: " + kind.name, "", "", {}};
        if (!kind.doc.empty()) row.remarks.push_back(kind.doc);
        rows.push_back(std::move(row));
        add_inner(kind, depth + 1, rows);
      }
      return;
    default:
      return;
  }
}

void add_rows(const FieldTree& field, size_t depth, std::vector<Row>& rows) {
  Row row{std::string(depth * 2, ' ') + field.name, type_text(field), "", {}};
  if (field.required) {
    row.fallback = "required";
  } else if (!field.default_text.empty()) {
    row.fallback = "default " + field.default_text;
  }
  if (!field.doc.empty()) row.remarks.push_back(field.doc);
  if (!field.no_effect.empty()) row.remarks.push_back("No effect if " + field.no_effect + ".");
  if (!field.example.empty()) row.remarks.push_back("Example: " + field.example);
  if (!field.source.empty()) row.remarks.push_back("Basis of the default: " + field.source);
  rows.push_back(std::move(row));
  add_inner(field, depth + 1, rows);
}

}  // namespace

std::string describe_text(const FieldTree& tree) {
  std::vector<Row> rows;
  if (tree.name.empty()) {
    add_inner(tree, 0, rows);
  } else {
    add_rows(tree, 0, rows);
  }
  constexpr size_t kColumnMax = 44;  // a longer cell shifts only its own line
  size_t name_width = 0;
  size_t type_width = 0;
  for (const Row& row : rows) {
    name_width = std::max(name_width, std::min(row.name.size(), kColumnMax));
    type_width = std::max(type_width, std::min(row.type.size(), kColumnMax));
  }
  std::string text = tree.name.empty() && !tree.doc.empty() ? tree.doc + "\n\n" : "";
  for (const Row& row : rows) {
    std::string line = row.name;
    const auto pad_to = [&line](size_t width) {
      line.append(line.size() < width ? width - line.size() : 0, ' ');
    };
    pad_to(name_width);
    line += "  " + row.type;
    pad_to(name_width + 2 + type_width);
    line += "  " + row.fallback;
    line.resize(line.find_last_not_of(' ') + 1);
    text += line + "\n";
    const size_t indent = row.name.find_first_not_of(' ') + 4;
    for (const std::string& remark : row.remarks) text += wrapped(remark, indent);
  }
  return text;
}

}  // namespace orrery
