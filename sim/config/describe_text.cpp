// sim/config/describe_text.cpp -- a field tree as aligned text for a terminal.
#include <algorithm>
#include <map>

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

// Where a field is in the tree. Example: key `pod` of the job sources, `sources.pod (kind: jobs)`.
struct Place {
  std::string path, kinds;
  int depth = 0;
  bool operator==(const Place&) const = default;

  Place child(const std::string& name) const {
    return {path.empty() ? name : path + "." + name, kinds, depth + 1};
  }
  Place kind(const std::string& name) const {
    return {path, kinds.empty() ? name : kinds + ", " + name, depth + 1};
  }
  std::string text() const { return kinds.empty() ? path : path + " (kind: " + kinds + ")"; }
};

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

// Calls `on_field` for each field directly below `field`, or `on_kind` for each kind of a variant.
template <class OnField, class OnKind>
void for_each_below(const FieldTree& field, const Place& place, OnField on_field, OnKind on_kind) {
  switch (field.shape) {
    case FieldShape::Struct:
      for (const FieldTree& child : field.children) on_field(child, place.child(child.name));
      return;
    case FieldShape::List:
    case FieldShape::Map:
    case FieldShape::Optional:
      return for_each_below(field.children[0], place, on_field, on_kind);
    case FieldShape::Variant:
      for (const FieldTree& kind : field.variants) on_kind(kind, place.kind(kind.name));
      return;
    default:
      return;
  }
}

// The rows of a tree. If fields have equal keys, only the field of least depth has rows for them;
// the other fields refer to it. Example: the key `policy` of run.changes has the keys of the
// section `policy`.
class Rows {
 public:
  explicit Rows(const FieldTree& tree) {
    const Place root{tree.name, {}, tree.name.empty() ? -1 : 0};
    find_homes(tree, root);
    if (tree.name.empty()) {
      add_below(tree, root);
    } else {
      add(tree, root);
    }
  }
  const std::vector<Row>& all() const { return rows_; }

 private:
  static constexpr size_t kRepeated = 15;  // up to so many rows are repeated in place

  Rows() = default;

  void find_homes(const FieldTree& field, const Place& place) {
    const auto on_field = [this](const FieldTree& child, const Place& at) {
      const Rows below = rows_below(child);
      if (below.rows_.size() > kRepeated) {
        const auto [home, is_new] = homes_.try_emplace(below.text(), at);
        if (!is_new && at.depth < home->second.depth) home->second = at;
      }
      find_homes(child, at);
    };
    for_each_below(field, place, on_field,
                   [this](const FieldTree& kind, const Place& at) { find_homes(kind, at); });
  }

  // All rows below a field, as they would be without references and at depth 0.
  static Rows rows_below(const FieldTree& field) {
    Rows below;
    below.add_below(field, {{}, {}, -1});
    return below;
  }
  std::string text() const {
    std::string text;
    for (const Row& row : rows_) {
      text += row.name + '\n' + row.type + '\n' + row.fallback + '\n';
      for (const std::string& remark : row.remarks) text += remark + '\n';
    }
    return text;
  }

  void add(const FieldTree& field, const Place& place) {
    Row row{std::string(place.depth * 2, ' ') + field.name, type_text(field), "", {}};
    if (field.required) {
      row.fallback = "required";
    } else if (!field.default_text.empty()) {
      row.fallback = "default " + field.default_text;
    }
    if (!field.doc.empty()) row.remarks.push_back(field.doc);
    if (!field.no_effect.empty()) row.remarks.push_back("No effect if " + field.no_effect + ".");
    if (!field.example.empty()) row.remarks.push_back("Example: " + field.example);
    if (!field.source.empty()) row.remarks.push_back("Basis of the default: " + field.source);
    const auto home = homes_.empty() ? homes_.end() : homes_.find(rows_below(field).text());
    const bool is_elsewhere = home != homes_.end() && home->second != place;
    if (is_elsewhere) row.remarks.push_back("Same keys as " + home->second.text() + ".");
    rows_.push_back(std::move(row));
    if (!is_elsewhere) add_below(field, place);
  }

  void add_below(const FieldTree& field, const Place& place) {
    const auto on_kind = [this](const FieldTree& kind, const Place& at) {
      Row row{std::string(at.depth * 2, ' ') + "kind: " + kind.name, "", "", {}};
      if (!kind.doc.empty()) row.remarks.push_back(kind.doc);
      rows_.push_back(std::move(row));
      add_below(kind, at);
    };
    for_each_below(
        field, place, [this](const FieldTree& child, const Place& at) { add(child, at); }, on_kind);
  }

  std::vector<Row> rows_;
  std::map<std::string, Place> homes_;  // by the text of the rows below a field
};

}  // namespace

std::string describe_text(const FieldTree& tree) {
  const Rows made{tree};
  const std::vector<Row>& rows = made.all();
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
