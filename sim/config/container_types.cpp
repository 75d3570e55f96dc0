// sim/config/container_types.cpp -- reads, writes and describes enums, lists, maps, optionals and
// variants.
#include <algorithm>

#include "sim/config/fields.hpp"

namespace orrery::config {
namespace {

void complain(const Node& node, const ReadContext& context, std::string message) {
  context.diagnostics.error(node.position, context.path, std::move(message));
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// The index of the text of `node` in `names`. If the text is not in `names`, reports a mistake and
// returns nothing.
std::optional<size_t> read_name(const Node& node, const ReadContext& context,
                                const std::vector<std::string>& names) {
  if (node.is_scalar()) {
    const auto found = std::find(names.begin(), names.end(), node.text);
    if (found != names.end()) return static_cast<size_t>(found - names.begin());
  }
  complain(node, context,
           "expected one of " + joined(names) + "; got " + what_is(node) +
               (node.is_scalar() ? did_you_mean(node.text, names) : ""));
  return std::nullopt;
}

void describe_element(const ValueType& type, const void* sample, const FieldOptions& options,
                      FieldTree& tree) {
  FieldTree& element = tree.children.emplace_back();
  type.describe(sample, options, element);
}

}  // namespace

void EnumType::read(const Node& node, const ReadContext& context, void* value) const {
  if (const auto index = read_name(node, context, names())) set(value, *index);
}

Node EnumType::write(const void* value) const { return make_scalar(names()[get(value)], true); }

void EnumType::describe(const void*, const FieldOptions&, FieldTree& tree) const {
  tree.shape = FieldShape::Enum;
  tree.type = "one of";
  tree.enum_values = names();
}

void ListType::read(const Node& node, const ReadContext& context, void* value) const {
  if (!node.is_sequence()) {
    return complain(node, context, "expected a list, got " + what_is(node));
  }
  clear(value);
  for (size_t i = 0; i < node.items.size(); ++i) {
    const std::string path = context.path + "[" + std::to_string(i) + "]";
    element().read(node.items[i], {path, context.options, context.diagnostics}, append(value));
  }
}

Node ListType::write(const void* value) const {
  Node node;
  node.kind = Kind::Sequence;
  for (const void* part : parts(value)) node.items.push_back(element().write(part));
  return node;
}

void ListType::describe(const void*, const FieldOptions& options, FieldTree& tree) const {
  const auto part = sample();
  describe_element(element(), part.get(), options, tree);
  tree.shape = FieldShape::List;
  tree.type = "list of " + tree.children[0].type;
}

void MapType::read(const Node& node, const ReadContext& context, void* value) const {
  if (!node.is_map()) return complain(node, context, "expected a map, got " + what_is(node));
  clear(value);
  for (const Entry& entry : node.entries) {
    const std::string path = context.path + "." + entry.key;
    element().read(entry.value, {path, context.options, context.diagnostics},
                   insert(value, entry.key));
  }
}

Node MapType::write(const void* value) const {
  Node node;
  node.kind = Kind::Map;
  for (const auto& [key, part] : parts(value)) {
    node.entries.push_back({key, {}, element().write(part)});
  }
  return node;
}

void MapType::describe(const void*, const FieldOptions& options, FieldTree& tree) const {
  const auto part = sample();
  describe_element(element(), part.get(), options, tree);
  tree.shape = FieldShape::Map;
  tree.type = "map of names to " + tree.children[0].type;
}

void OptionalType::read(const Node& node, const ReadContext& context, void* value) const {
  if (node.is_null()) return clear(value);
  element().read(node, context, fill(value));
}

void OptionalType::read_absent(const Position& at, const ReadContext& context, void* value) const {
  if (held(value) != nullptr) element().read_absent(at, context, fill(value));
}

Node OptionalType::write(const void* value) const {
  const void* part = held(value);
  return part == nullptr ? Node{} : element().write(part);
}

void OptionalType::describe(const void* value, const FieldOptions& options, FieldTree& tree) const {
  const auto part = sample();
  const void* shown = held(value) == nullptr ? part.get() : held(value);
  describe_element(element(), shown, options, tree);
  const FieldTree& inner = tree.children[0];
  tree.shape = FieldShape::Optional;
  tree.type = "optional " + inner.type;
  tree.unit = inner.unit;
  tree.range_text = inner.range_text;
}

void VariantType::read(const Node& node, const ReadContext& context, void* value) const {
  if (node.is_null()) return read_absent(node.position, context, value);
  std::vector<std::string> kinds;
  for (const Alternative& alternative : alternatives()) kinds.emplace_back(alternative.kind);
  if (!node.is_map()) {
    return complain(node, context, "expected a map with the key 'kind', got " + what_is(node));
  }
  const Node* kind = node.find("kind");
  if (kind == nullptr) {
    return complain(node, context, "missing key 'kind'; expected one of " + joined(kinds));
  }
  const ReadContext kind_context{context.path + ".kind", context.options, context.diagnostics};
  const auto index = read_name(*kind, kind_context, kinds);
  if (!index) return;
  select(value, *index);
  const Alternative& chosen = alternatives()[*index];
  chosen.type.read_as(node, context, chosen.kind, held(value));
}

void VariantType::read_absent(const Position& at, const ReadContext& context, void* value) const {
  alternatives()[index(value)].type.read_absent(at, context, held(value));
}

Node VariantType::write(const void* value) const {
  const Alternative& chosen = alternatives()[index(value)];
  return chosen.type.write_as(held(value), chosen.kind);
}

void VariantType::describe(const void* value, const FieldOptions& options, FieldTree& tree) const {
  const std::vector<Alternative>& all = alternatives();
  for (size_t i = 0; i < all.size(); ++i) {
    const auto made = sample(i);
    FieldTree& variant = tree.variants.emplace_back();
    variant.name = all[i].kind;
    all[i].type.describe(i == index(value) ? held(value) : made.get(), options, variant);
  }
  tree.shape = FieldShape::Variant;
  tree.type = "kind of";
}

}  // namespace orrery::config
