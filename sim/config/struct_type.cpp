// sim/config/struct_type.cpp -- reads, writes and describes a params struct through its fields.
#include <algorithm>
#include <charconv>
#include <utility>

#include "sim/config/describe.hpp"
#include "sim/config/reader.hpp"

namespace orrery {
namespace {

const config::Node* part(const config::Node& from, std::string_view step, bool is_index) {
  if (!is_index) return from.find(step);
  size_t index = 0;
  std::from_chars(step.data(), step.data() + step.size(), index);
  return index < from.items.size() ? &from.items[index] : nullptr;
}

}  // namespace

std::pair<const config::Node*, bool> Checker::follow(std::string_view field) const {
  const config::Node* at = &node_;
  std::string_view rest = field;
  while (!rest.empty()) {
    const bool is_index = rest.front() == '[';
    if (is_index || rest.front() == '.') rest.remove_prefix(1);
    const size_t end = std::min(rest.find_first_of(is_index ? "]" : ".["), rest.size());
    const config::Node* const child = part(*at, rest.substr(0, end), is_index);
    if (child == nullptr) break;
    at = child;
    rest.remove_prefix(std::min(end + (is_index ? 1 : 0), rest.size()));
  }
  return {at, rest.empty()};
}

bool Checker::is_given(std::string_view field) const { return follow(field).second; }

std::string Checker::path_to(std::string_view field) const {
  const char* separator = path_.empty() || field.empty() ? "" : ".";
  return path_ + separator + std::string{field};
}

void Checker::error(std::string_view field, std::string message) {
  diagnostics_.error(follow(field).first->position, path_to(field), std::move(message));
}

void Checker::warning(std::string_view field, std::string message) {
  diagnostics_.warning(follow(field).first->position, path_to(field), std::move(message));
}

namespace config {
namespace {

std::string join(const std::string& path, std::string_view name) {
  return path.empty() ? std::string{name} : path + "." + std::string{name};
}

std::string keys_here(const std::vector<std::string>& known) {
  std::string text;
  for (const std::string& key : known) text += (text.empty() ? "" : ", ") + key;
  return text.empty() ? " (no keys here)" : " (keys here: " + text + ")";
}

// Reports each unknown key of a map. The first message also lists the known keys.
void report_unknown(const Node& node, const FieldList& fields, std::string_view kind,
                    const ReadContext& context) {
  std::vector<std::string> known;
  for (const FieldList::Field& field : fields.all()) known.emplace_back(field.name);
  if (!kind.empty()) known.emplace_back("kind");
  bool is_first = true;
  for (const Entry& entry : node.entries) {
    if (std::find(known.begin(), known.end(), entry.key) != known.end()) continue;
    std::string text = "unknown key " + in_quotes(entry.key);
    // If `diagnostics` is full, it only counts messages, so comparing names would waste time.
    if (!context.diagnostics.full()) {
      text += did_you_mean(entry.key, known);
      if (is_first) text += keys_here(known);
    }
    context.diagnostics.error(entry.key_position, context.path, std::move(text));
    is_first = false;
  }
}

}  // namespace

void StructType::read(const Node& node, const ReadContext& context, void* value) const {
  read_as(node, context, "", value);
}

void StructType::read_absent(const Position& at, const ReadContext& context, void* value) const {
  read_as(make_null(at), context, "", value);
}

void StructType::read_as(const Node& node, const ReadContext& context, std::string_view kind,
                         void* value) const {
  if (!node.is_map() && !node.is_null()) {
    context.diagnostics.error(node.position, context.path, "expected a map, got " + what_is(node));
    return;
  }
  const size_t errors_before = context.diagnostics.count();
  FieldList fields;
  collect(value, fields);
  report_unknown(node, fields, kind, context);
  for (const FieldList::Field& field : fields.all()) {
    const ReadContext inner{join(context.path, field.name), field.options, context.diagnostics};
    if (const Node* child = node.find(field.name)) {
      field.type->read(*child, inner, field.value);
    } else if (field.options.is_required) {
      context.diagnostics.error(node.position, context.path,
                                "missing required key '" + std::string{field.name} + "'");
    } else {
      field.type->read_absent(node.position, inner, field.value);
    }
  }
  // If a field has a mistake, check() is not called: it compares fields, so its messages might
  // mislead.
  if (context.diagnostics.count() > errors_before) return;
  Checker checker{node, context.path, context.diagnostics};
  check(value, checker);
  const auto may_be_unheeded = [&](const FieldList::Field& field) {
    return (field.options.is_instant || !field.options.heeded.empty()) &&
           node.find(field.name) != nullptr;
  };
  if (std::ranges::any_of(fields.all(), may_be_unheeded)) {
    tell_unheeded(node, context, value);
  }
}

// Tells the diagnostics which of the given parameters may have no effect. Lists the fields again:
// whether a field has an effect depends on values that were read after the first listing.
void StructType::tell_unheeded(const Node& node, const ReadContext& context,
                               const void* value) const {
  FieldList fields;
  collect_const(value, fields);
  for (const FieldList::Field& field : fields.all()) {
    const Node* const given = node.find(field.name);
    if (given == nullptr || given->is_null()) continue;
    const Diagnostics::Entry place{given->position, join(context.path, field.name), ""};
    if (field.options.is_instant && field.type == &type_of<Duration>()) {
      context.diagnostics.instant(*static_cast<const Duration*>(field.value), place);
    }
    std::vector<Heeded> open = field.options.heeded;
    std::erase_if(open, [](const Heeded& one) { return one.is_heeded; });
    if (open.empty() || is_default(field.name, field.type->write(field.value))) continue;
    std::ranges::stable_sort(open, {}, [](const Heeded& one) { return one.fact >= 0; });
    for (const Heeded& one : open) {
      context.diagnostics.unheeded(
          one.fact, {place.position, place.path, "has no effect: " + std::string{one.otherwise}});
      if (one.fact < 0) break;
    }
  }
}

// Whether a given value equals the default. A default is never reported as "has no effect", because
// a resolved scenario states every default.
bool StructType::is_default(std::string_view field, const Node& value) const {
  const std::shared_ptr<const void> defaults = sample();
  FieldList fields;
  collect_const(defaults.get(), fields);
  return std::ranges::any_of(fields.all(), [&](const FieldList::Field& one) {
    return one.name == field && have_same_value(one.type->write(one.value), value);
  });
}

// A visitor takes a mutable struct, but the callers of this function only read the struct.
void StructType::collect_const(const void* value, FieldList& fields) const {
  collect(const_cast<void*>(value), fields);
}

Node StructType::write(const void* value) const { return write_as(value, ""); }

Node StructType::write_as(const void* value, std::string_view kind) const {
  FieldList fields;
  collect_const(value, fields);
  Node node;
  node.kind = Kind::Map;
  if (!kind.empty()) node.entries.push_back({"kind", {}, make_scalar(std::string{kind}, true)});
  for (const FieldList::Field& field : fields.all()) {
    node.entries.push_back({std::string{field.name}, {}, field.type->write(field.value)});
  }
  return node;
}

void StructType::describe(const void* value, const FieldOptions&, FieldTree& tree) const {
  FieldList fields;
  collect_const(value, fields);
  tree.shape = FieldShape::Struct;
  tree.type = "map";
  tree.doc = doc();
  for (const FieldList::Field& field : fields.all()) {
    FieldTree& child = tree.children.emplace_back();
    field.type->describe(field.value, field.options, child);
    child.name = field.name;
    if (!field.doc.empty()) child.doc = field.doc;
    child.source = field.options.source;
    child.example = field.options.example;
    child.required = field.options.is_required;
    for (const Heeded& one : field.options.heeded) {
      child.no_effect += (child.no_effect.empty() ? "" : ", or if ") + std::string{one.otherwise};
    }
    const bool has_default = child.shape != FieldShape::Struct && child.shape != FieldShape::Raw;
    if (child.required || !has_default) continue;
    const Node written = field.type->write(field.value);
    if (child.shape == FieldShape::Variant) {
      child.default_text = written["kind"].text;
    } else {
      child.default_text = to_flow_text(written);
      child.default_json = to_json(written);
    }
  }
}

void read_root(const StructType& type, const Node& node, std::string path, Diagnostics& diagnostics,
               void* value) {
  const FieldOptions none;
  type.read(node, {std::move(path), none, diagnostics}, value);
}

FieldTree describe_root(const StructType& type, const void* defaults) {
  FieldTree tree;
  type.describe(defaults, FieldOptions{}, tree);
  return tree;
}

}  // namespace config
}  // namespace orrery
