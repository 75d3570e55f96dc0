#include "sim/config/field_path.hpp"

#include <algorithm>

namespace orrery {

const FieldTree& held_by(const FieldTree& tree) {
  const FieldTree* leaf = &tree;
  while (leaf->shape == FieldShape::List || leaf->shape == FieldShape::Map ||
         leaf->shape == FieldShape::Optional) {
    leaf = &leaf->children.front();
  }
  return *leaf;
}

const std::vector<FieldTree>& parts_of(const FieldTree& tree) {
  return tree.shape == FieldShape::Variant ? tree.variants : tree.children;
}

const FieldTree* find_path(const FieldTree& from, std::string_view path) {
  if (path.empty()) return &from;
  const size_t dot = std::min(path.find('.'), path.size());
  const std::string_view step = path.substr(0, dot);
  const std::string_view rest = dot < path.size() ? path.substr(dot + 1) : std::string_view{};
  const std::vector<FieldTree>& parts = parts_of(held_by(from));
  for (const FieldTree& part : parts) {
    if (part.name != step) continue;
    if (const FieldTree* const found = find_path(part, rest)) return found;
  }
  for (const FieldTree& part : parts) {
    if (const FieldTree* const found = find_path(part, path)) return found;
  }
  return nullptr;
}

}  // namespace orrery
