// sim/config/node.hpp -- a YAML document as a tree with a position on every part.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/diagnostics.hpp"

namespace orrery::config {

// Limits of a document, so that no YAML text hangs the program or exhausts memory.
struct Limits {
  static constexpr size_t kFileBytes = size_t{16} << 20U;
  // Total text of all keys and scalars, with aliases expanded.
  static constexpr size_t kTextBytes = size_t{64} << 20U;
  // Number of values in a document and its included files, with aliases expanded.
  static constexpr size_t kNodes = 1'000'000;
  static constexpr int kDepth = 64;
  static constexpr size_t kKeyBytes = 256;
  static constexpr int kIncludeDepth = 16;
  static constexpr int kFiles = 256;
};

enum class Kind : uint8_t { Null, Scalar, Sequence, Map };
struct Entry;

// A value of a document, with the values inside of it.
struct Node {
  Kind kind = Kind::Null;
  bool was_quoted = false;  // a quoted or block scalar: never a number, a boolean or null
  Position position;
  std::string text;            // only a Scalar has a text
  std::vector<Node> items;     // only a Sequence has items
  std::vector<Entry> entries;  // only a Map has entries: in the order of the text, keys distinct

  bool is_null() const { return kind == Kind::Null; }
  bool is_scalar() const { return kind == Kind::Scalar; }
  bool is_sequence() const { return kind == Kind::Sequence; }
  bool is_map() const { return kind == Kind::Map; }

  const Node* find(std::string_view key) const;        // null without such a key
  const Node& operator[](std::string_view key) const;  // a null node without such a key
};

struct Entry {
  std::string key;
  Position key_position;
  Node value;
};

bool have_same_value(const Node& a, const Node& b);  // positions do not matter

// What the node is, for messages: "a map", "a list", a scalar's text in quotes, or "nothing".
std::string what_is(const Node& node);

Node make_null(Position position);
Node make_scalar(std::string text, bool was_quoted);

struct SourceFile {
  std::string name;
  std::string text;
};

struct Document {
  Node root;
  bool is_usable = false;  // false if unparsable: reading `root` would only add useless messages
  std::vector<SourceFile> sources;     // the file itself, then what it includes
  std::vector<std::string> overrides;  // each assignment that apply_override() got, in order
};

// Reads a file and all its includes. Mistakes go to `diagnostics`; after a duplicate key the
// document stays usable, so that other mistakes are found in the same run.
[[nodiscard]] Document load_file(const std::string& path, Diagnostics& diagnostics);
// Reads text in memory, called `name` in messages. The text may not include files.
[[nodiscard]] Document load_text(std::string_view text, std::string_view name,
                                 Diagnostics& diagnostics);

// Applies `a.b[0].c=value`; the value is YAML. Missing maps are created; list items must exist. A
// key with dots in it is written in double quotes. Example: a message about line 1, column 5 of the
// first override begins with `--set #1:1:5`.
void apply_override(Document& document, std::string_view assignment, Diagnostics& diagnostics);
// Removes the node at `path`, if there is one. A path is written as in messages: `a.b[0].c`.
void erase(Document& document, std::string_view path);

}  // namespace orrery::config
