// sim/config/json_text.cpp -- a document tree as JSON text.
#include "sim/config/describe.hpp"
#include "sim/config/scalars.hpp"

namespace orrery::config {
namespace {

void append_string(std::string& out, std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\r') {
      out += "\\r";
    } else if (byte < 0x20 || byte == 0x7F) {
      out += {'\\', 'u', '0', '0', kHex[byte >> 4U], kHex[byte & 15U]};
    } else {
      out += c;
    }
  }
  out += '"';
}

void append(std::string& out, const Node& node, size_t indent) {
  const auto new_line = [&out](size_t spaces) { out.append(1, '\n').append(spaces, ' '); };
  switch (node.kind) {
    case Kind::Null:
      out += "null";
      return;
    case Kind::Scalar:
      if (!node.was_quoted && is_bare_json(node.text)) {
        out += node.text;
      } else {
        append_string(out, node.text);
      }
      return;
    case Kind::Sequence:
      out += '[';
      for (size_t i = 0; i < node.items.size(); ++i) {
        if (i > 0) out += ',';
        new_line(indent + 2);
        append(out, node.items[i], indent + 2);
      }
      if (!node.items.empty()) new_line(indent);
      out += ']';
      return;
    case Kind::Map:
      out += '{';
      for (size_t i = 0; i < node.entries.size(); ++i) {
        if (i > 0) out += ',';
        new_line(indent + 2);
        append_string(out, node.entries[i].key);
        out += ": ";
        append(out, node.entries[i].value, indent + 2);
      }
      if (!node.entries.empty()) new_line(indent);
      out += '}';
      return;
  }
}

void append_flow(std::string& out, const Node& node) {
  std::string_view separator;
  switch (node.kind) {
    case Kind::Null:
      out += "none";
      return;
    case Kind::Scalar:
      out += node.text.empty() ? "''" : node.text;
      return;
    case Kind::Sequence:
      out += '[';
      for (const Node& item : node.items) {
        out += separator;
        append_flow(out, item);
        separator = ", ";
      }
      out += ']';
      return;
    case Kind::Map:
      out += '{';
      for (const Entry& entry : node.entries) {
        out.append(separator).append(entry.key).append(": ");
        append_flow(out, entry.value);
        separator = ", ";
      }
      out += '}';
      return;
  }
}

}  // namespace

std::string to_flow_text(const Node& node) {
  std::string out;
  append_flow(out, node);
  return out;
}

std::string to_json(const Node& node) {
  std::string out;
  append(out, node, 0);
  return out;
}

}  // namespace orrery::config
