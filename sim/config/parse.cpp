// sim/config/parse.cpp -- yaml-cpp's events to our tree; the only file that includes yaml-cpp.
#include "sim/config/parse.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "sim/config/encoding.hpp"
#include "sim/core/check.hpp"

namespace orrery::config {
namespace {

struct Refusal {  // thrown through yaml-cpp, which has no other way to be stopped
  Position position;
  std::string message;
};

// Builds the tree bottom-up. A frame is an open map or list.
class Builder final : public YAML::EventHandler {
 public:
  Builder(FileName name, Budget& budget, Diagnostics& diagnostics)
      : name_{std::move(name)}, budget_{budget}, diagnostics_{diagnostics} {}

  Node take_root() { return std::move(root_.node); }
  bool has_document() const { return documents_ > 0; }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) refuse(at(mark), "a second YAML document; a file holds exactly one");
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_key(mark);
    add({make_null(at(mark)), 1, 1}, anchor);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    const bool was_quoted = check_tag(mark, tag, "tag:yaml.org,2002:str") || tag == "!";
    if (expects_key()) return set_key(mark, value, was_quoted);
    charge(at(mark), 0, value.size());
    Node node = make_scalar(value, was_quoted);
    node.position = at(mark);
    add({std::move(node), 1, 1}, anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_key(mark);
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) refuse(at(mark), "this alias stands inside the value it names");
    if (depth() + found->second.height > Limits::kDepth) refuse_depth(at(mark));
    charge(at(mark), found->second.nodes - 1, found->second.text_bytes);
    add(found->second, YAML::NullAnchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    check_tag(mark, tag, "tag:yaml.org,2002:seq");
    open(mark, Kind::Sequence, anchor);
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    check_tag(mark, tag, "tag:yaml.org,2002:map");
    open(mark, Kind::Map, anchor);
  }
  void OnMapEnd() override {
    drop_duplicates();
    close();
  }

 private:
  struct Subtree {
    Node node;
    size_t nodes = 0;
    int height = 0;
    size_t text_bytes = 0;
  };
  struct Frame {
    Subtree tree;
    YAML::anchor_t anchor = YAML::NullAnchor;
    std::optional<Entry> key;  // of the value that comes next
  };

  Position at(const YAML::Mark& mark) const { return {name_, mark.line + 1, mark.column + 1}; }
  [[noreturn]] static void refuse(Position position, std::string message) {
    throw Refusal{std::move(position), std::move(message)};
  }
  [[noreturn]] static void refuse_depth(Position position) {
    refuse(std::move(position),
           "nested more than " + std::to_string(Limits::kDepth) + " levels deep");
  }
  int depth() const { return static_cast<int>(frames_.size()); }
  bool expects_key() const {
    return !frames_.empty() && frames_.back().tree.node.is_map() && !frames_.back().key;
  }
  void refuse_key(const YAML::Mark& mark) const {
    if (expects_key()) refuse(at(mark), "a key must be plain text");
  }

  // True when the text carries `allowed` explicitly; any other tag but yaml-cpp's own is refused.
  bool check_tag(const YAML::Mark& mark, const std::string& tag, std::string_view allowed) const {
    if (tag == allowed) return true;
    if (!tag.empty() && tag != "?" && tag != "!") {
      refuse(at(mark), "the YAML tag " + in_quotes(tag) + " is not supported");
    }
    return false;
  }

  void charge(const Position& position, size_t nodes, size_t text_bytes) {
    if (nodes > budget_.nodes) {
      refuse(position, "more than " + std::to_string(Limits::kNodes) +
                           " values (aliases count as often as they are used)");
    }
    if (text_bytes > budget_.text_bytes) {
      refuse(position, "more than 64 MiB of text (aliases count as often as they are used)");
    }
    budget_.nodes -= nodes;
    budget_.text_bytes -= text_bytes;
  }

  void set_key(const YAML::Mark& mark, const std::string& key, bool was_quoted) {
    if (key == "<<" && !was_quoted) {
      refuse(at(mark), "merge keys ('<<') are not supported; use include: or repeat the values");
    }
    if (key.size() > Limits::kKeyBytes) refuse(at(mark), "a key of more than 256 bytes");
    charge(at(mark), 0, key.size());
    frames_.back().tree.text_bytes += key.size();
    frames_.back().key = Entry{key, at(mark), {}};
  }

  void open(const YAML::Mark& mark, Kind kind, YAML::anchor_t anchor) {
    refuse_key(mark);
    if (depth() >= Limits::kDepth) refuse_depth(at(mark));
    Frame frame;
    frame.tree = {make_null(at(mark)), 1, 1, 0};
    frame.tree.node.kind = kind;
    frame.anchor = anchor;
    frames_.push_back(std::move(frame));
  }

  void close() {
    Frame frame = std::move(frames_.back());
    frames_.pop_back();
    add(std::move(frame.tree), frame.anchor);
  }

  void add(Subtree tree, YAML::anchor_t anchor) {
    charge(tree.node.position, 1, 0);
    if (tree.node.is_scalar()) tree.text_bytes = tree.node.text.size();
    if (anchor != YAML::NullAnchor) {  // the copy kept for aliases costs as much as one use
      charge(tree.node.position, tree.nodes, tree.text_bytes);
      anchors_[anchor] = tree;
    }
    if (frames_.empty()) {
      root_ = std::move(tree);
      return;
    }
    Frame& parent = frames_.back();
    parent.tree.nodes += tree.nodes;
    parent.tree.text_bytes += tree.text_bytes;
    parent.tree.height = std::max(parent.tree.height, tree.height + 1);
    if (parent.tree.node.is_sequence()) {
      parent.tree.node.items.push_back(std::move(tree.node));
      return;
    }
    ORRERY_CHECK(parent.key.has_value(), "a value in a map comes after its key");
    parent.key->value = std::move(tree.node);
    parent.tree.node.entries.push_back(std::move(*parent.key));
    parent.key.reset();
  }

  // yaml-cpp accepts a key given twice. The first one stays.
  void drop_duplicates() {
    std::vector<Entry>& entries = frames_.back().tree.node.entries;
    std::map<std::string_view, size_t> first;
    std::vector<bool> is_duplicate(entries.size());
    bool any = false;
    for (size_t i = 0; i < entries.size(); ++i) {
      const auto [found, is_new] = first.emplace(entries[i].key, i);
      if (is_new) continue;
      const Position& original = entries[found->second].key_position;
      diagnostics_.error(entries[i].key_position, path(),
                         "key " + in_quotes(entries[i].key) + " given twice; first on line " +
                             std::to_string(original.line) + ", column " +
                             std::to_string(original.column));
      is_duplicate[i] = any = true;
    }
    if (!any) return;
    std::vector<Entry> kept;
    for (size_t i = 0; i < entries.size(); ++i) {
      if (!is_duplicate[i]) kept.push_back(std::move(entries[i]));
    }
    entries = std::move(kept);
  }

  std::string path() const {  // of the innermost open map
    std::string text;
    for (size_t i = 0; i + 1 < frames_.size(); ++i) {
      if (frames_[i].key) {
        text += (text.empty() ? "" : ".") + frames_[i].key->key;
      } else {
        text += "[" + std::to_string(frames_[i].tree.node.items.size()) + "]";
      }
    }
    return text;
  }

  FileName name_;
  Budget& budget_;
  Diagnostics& diagnostics_;
  std::vector<Frame> frames_;
  std::map<YAML::anchor_t, Subtree> anchors_;
  Subtree root_;
  int documents_ = 0;
};

}  // namespace

std::optional<Node> parse_yaml(std::string_view text, const FileName& name, Budget& budget,
                               Diagnostics& diagnostics) {
  if (text.size() > Limits::kFileBytes) {
    diagnostics.error({name}, "", "larger than 16 MiB");
    return std::nullopt;
  }
  if (const auto bad = find_bad_byte(text)) {
    diagnostics.error({name, bad->line, bad->column}, "", bad->message);
    return std::nullopt;
  }
  Builder builder{name, budget, diagnostics};
  try {
    std::istringstream stream{std::string{text}};
    YAML::Parser parser{stream};
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const Refusal& refusal) {
    diagnostics.error(refusal.position, "", refusal.message);
    return std::nullopt;
  } catch (const YAML::Exception& error) {
    diagnostics.error({name, error.mark.line + 1, error.mark.column + 1}, "",
                      "not valid YAML: " + error.msg);
    return std::nullopt;
  }
  return builder.take_root();
}

}  // namespace orrery::config
