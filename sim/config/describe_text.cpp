// sim/config/describe_text.cpp -- a field tree as aligned text for a terminal.
#include <algorithm>
#include <map>

#include "sim/config/describe.hpp"
#include "sim/config/field_path.hpp"

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
  const FieldTree& inner = held_by(field);
  std::string names;
  for (const std::string& name : inner.enum_values) names += (names.empty() ? " " : " | ") + name;
  for (const FieldTree& kind : inner.variants) names += (names.empty() ? " " : " | ") + kind.name;
  text += names;
  if (!inner.range_text.empty()) return text + ", " + inner.range_text;
  // Only plain numbers need the unit here: the values of a quantity contain it, as in 5s.
  if (inner.shape != FieldShape::Quantity && !inner.unit.empty()) text += " (" + inner.unit + ")";
  return text;
}

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

Row row_of(const FieldTree& field, size_t depth) {
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
  return row;
}

// The row of a part of `whole`: of a field of a struct, or of a kind of a variant.
Row row_of_part(const FieldTree& part, const FieldTree& whole, size_t depth) {
  if (whole.shape != FieldShape::Variant) return row_of(part, depth);
  Row row{std::string(depth * 2, ' ') + "kind: " + part.name, "", "", {}};
  if (!part.doc.empty()) row.remarks.push_back(part.doc);
  return row;
}

// All rows below a field, at any depth, as one text.
struct Keys {
  explicit Keys(const FieldTree& field) { add(field, 0); }
  std::string text;
  size_t rows = 0;

 private:
  void add(const FieldTree& field, size_t depth) {
    const FieldTree& whole = held_by(field);
    for (const FieldTree& part : parts_of(whole)) {
      const Row row = row_of_part(part, whole, depth);
      text += row.name + '\n' + row.type + '\n' + row.fallback + '\n';
      for (const std::string& remark : row.remarks) text += remark + '\n';
      ++rows;
      add(part, depth + 1);
    }
  }
};

// The rows of a tree. Keys that several parts of the tree have in common are shown once: below the
// part of least depth and, at equal depth, below the first of them. The other parts name the path
// of that part. Example: the key `policy` of run.changes has the same keys as the section `policy`.
class Description {
 public:
  explicit Description(const FieldTree& tree) {
    find_places(tree, tree.name, 0);
    if (!tree.name.empty()) rows_.push_back(row_of(tree, 0));
    add_below(tree, tree.name, tree.name.empty() ? 0 : 1);
  }
  const std::vector<Row>& rows() const { return rows_; }

 private:
  static constexpr size_t kRepeatedRowsMax = 15;  // keys of more rows are shown once

  struct Place {
    std::string path;
    size_t depth = 0;
  };

  static std::string path_of(const FieldTree& part, const std::string& path) {
    return path.empty() ? part.name : path + "." + part.name;
  }

  // The comparison of depths is strict, and a part comes before the parts within it. So the place
  // of some keys is never within a part whose own keys are shown elsewhere.
  void find_places(const FieldTree& field, const std::string& path, size_t depth) {
    for (const FieldTree& part : parts_of(held_by(field))) {
      const std::string at = path_of(part, path);
      if (const Keys keys{part}; keys.rows > kRepeatedRowsMax) {
        const auto [place, is_new] = places_.try_emplace(keys.text, at, depth);
        if (!is_new && depth < place->second.depth) place->second = {at, depth};
      }
      find_places(part, at, depth + 1);
    }
  }

  void add_below(const FieldTree& field, const std::string& path, size_t depth) {
    const FieldTree& whole = held_by(field);
    for (const FieldTree& part : parts_of(whole)) {
      const std::string at = path_of(part, path);
      rows_.push_back(row_of_part(part, whole, depth));
      const auto place = places_.find(Keys{part}.text);
      if (place == places_.end() || place->second.path == at) {
        add_below(part, at, depth + 1);
      } else {
        rows_.back().remarks.push_back("Same keys as `" + place->second.path + "`.");
      }
    }
  }

  std::vector<Row> rows_;
  std::map<std::string, Place> places_;  // where keys are shown, by their text
};

}  // namespace

std::string describe_text(const FieldTree& tree) {
  const Description description{tree};
  const std::vector<Row>& rows = description.rows();
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
