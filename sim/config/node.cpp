// sim/config/node.cpp -- look-ups in a document tree.
#include "sim/config/node.hpp"

#include <algorithm>

namespace orrery::config {

const Node* Node::find(std::string_view key) const {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [key](const Entry& entry) { return entry.key == key; });
  return found == entries.end() ? nullptr : &found->value;
}

const Node& Node::operator[](std::string_view key) const {
  static const Node kNothing;
  const Node* found = find(key);
  return found == nullptr ? kNothing : *found;
}

bool have_same_value(const Node& a, const Node& b) {
  const auto same_entry = [](const Entry& x, const Entry& y) {
    return x.key == y.key && have_same_value(x.value, y.value);
  };
  return a.kind == b.kind && a.text == b.text && a.was_quoted == b.was_quoted &&
         std::ranges::equal(a.items, b.items, have_same_value) &&
         std::ranges::equal(a.entries, b.entries, same_entry);
}

std::string what_is(const Node& node) {
  switch (node.kind) {
    case Kind::Scalar:
      return in_quotes(node.text);
    case Kind::Sequence:
      return "a list";
    case Kind::Map:
      return "a map";
    case Kind::Null:
      break;
  }
  return "nothing";
}

Node make_null(Position position) {
  Node node;
  node.position = std::move(position);
  return node;
}

Node make_scalar(std::string text, bool was_quoted) {
  Node node;
  node.kind = Kind::Scalar;
  node.was_quoted = was_quoted;
  node.text = std::move(text);
  return node;
}

}  // namespace orrery::config
