// sim/config/parse.cpp -- builds our tree from yaml-cpp's events. No other file includes yaml-cpp.
#include "sim/config/parse.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <istream>
#include <map>
#include <streambuf>

#include "sim/config/encoding.hpp"
#include "sim/core/check.hpp"

namespace orrery::config {
namespace {

struct Refusal {  // thrown through yaml-cpp, which cannot be stopped otherwise
  Position position;
  std::string message;
};

// Limits what the parser reads ahead. While a bracketed value may still be a key, yaml-cpp emits no
// events and stores all tokens of the value: some 240 bytes for one bracket. So this buffer passes
// the text in pieces. It refuses more than Limits::kNodes punctuation characters without an event
// between them, because each of these may be a token.
class MeteredBuffer final : public std::streambuf {
 public:
  explicit MeteredBuffer(std::string text) : text_{std::move(text)} {}
  void event_seen() { waiting_ = 0; }

 protected:
  int_type underflow() override {
    constexpr size_t kPiece = 4096;
    if (at_ == text_.size()) return traits_type::eof();
    const size_t length = std::min(kPiece, text_.size() - at_);
    const std::string_view piece = std::string_view{text_}.substr(at_, length);
    waiting_ += static_cast<size_t>(std::count_if(piece.begin(), piece.end(), [](char c) {
      return std::string_view{"[]{},:?-&*!\"'"}.find(c) != std::string_view::npos;
    }));
    if (waiting_ > Limits::kNodes) throw Refusal{{}, "a value with too many parts in brackets"};
    setg(text_.data() + at_, text_.data() + at_, text_.data() + at_ + length);
    at_ += length;
    return traits_type::to_int_type(*gptr());
  }

 private:
  std::string text_;
  size_t at_ = 0;
  size_t waiting_ = 0;
};

// Returns false if the value that starts at `from` is quoted and has no closing quote. yaml-cpp
// also accepts the end of the file instead of a closing quote.
bool is_quote_closed(std::string_view text, size_t from) {
  // Skips an anchor and a tag.
  while (from < text.size() && (text[from] == '&' || text[from] == '!')) {
    from = text.find_first_not_of(" \t\r\n", text.find_first_of(" \t\r\n", from));
  }
  if (from >= text.size() || (text[from] != '"' && text[from] != '\'')) return true;
  const char quote = text[from];
  for (size_t i = from + 1; i < text.size(); ++i) {
    if (quote == '"' && text[i] == '\\') {
      ++i;
    } else if (text[i] == quote) {
      // In single quotes a doubled quote stands for one quote.
      if (quote == '"' || i + 1 == text.size() || text[i + 1] != quote) return true;
      ++i;
    }
  }
  return false;
}

// Builds the tree bottom-up. A frame is an open map or list.
class Builder final : public YAML::EventHandler {
 public:
  Builder(FileName name, MeteredBuffer& buffer, Budget& budget, Diagnostics& diagnostics)
      : name_{std::move(name)}, buffer_{buffer}, budget_{budget}, diagnostics_{diagnostics} {}

  Node take_root() { return std::move(root_.node); }
  const std::optional<YAML::Mark>& last_quoted() const { return last_quoted_; }
  Position at(const YAML::Mark& mark) const { return {name_, mark.line + 1, mark.column + 1}; }

  void OnDocumentStart(const YAML::Mark& mark) override {
    // If plain text continues after a comment, yaml-cpp starts a second document.
    if (documents_ > 0 && root_.node.is_scalar()) refuse(root_.node.position, kPlainText);
    if (++documents_ > 1) refuse(at(mark), "a second YAML document; a file holds exactly one");
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_key(mark);
    add({make_null(null_position(mark)), 1, 1}, anchor);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    const bool was_quoted = check_tag(mark, tag, "tag:yaml.org,2002:str") || tag == "!";
    if (was_quoted) last_quoted_ = mark;
    // yaml-cpp turns the escapes \_ and \N into single bytes, which are not UTF-8.
    if (!is_utf8(value)) refuse(at(mark), "an escape in this text gives NUL or is not UTF-8");
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
    std::optional<Entry> key;  // key of the next value
  };

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
    if (expects_key()) refuse(at(mark), "a key must be plain text; is a bracket not closed?");
  }

  // For a missing value yaml-cpp gives an arbitrary position, `mark`. Returns the position of
  // `mark` if it is behind the key on the key's line, else the position of the key.
  Position null_position(const YAML::Mark& mark) const {
    const Position position = at(mark);
    if (frames_.empty() || !frames_.back().key) return position;
    const Position& key = frames_.back().key->key_position;
    return position.line == key.line && position.column > key.column ? position : key;
  }

  // Whether the value has the tag `allowed`. Rejects every other tag except "?" and "!", which
  // yaml-cpp gives to plain and quoted text.
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
    buffer_.event_seen();
    charge(at(mark), 0, key.size());
    frames_.back().tree.text_bytes += key.size();
    frames_.back().key = Entry{key, at(mark), {}};
  }

  void open(const YAML::Mark& mark, Kind kind, YAML::anchor_t anchor) {
    buffer_.event_seen();
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
    buffer_.event_seen();
    charge(tree.node.position, 1, 0);
    if (tree.node.is_scalar()) tree.text_bytes = tree.node.text.size();
    if (anchor != YAML::NullAnchor) {  // the copy kept for aliases counts as one use
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

  // Reports duplicate keys, which yaml-cpp accepts. The first value of a key stays.
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

  std::string path() const {  // path of the innermost open map
    std::string text;
    for (size_t i = 0; i + 1 < frames_.size(); ++i) {
      if (frames_[i].key) {
        text.append(text.empty() ? "" : ".").append(frames_[i].key->key);
      } else {
        text.append("[").append(std::to_string(frames_[i].tree.node.items.size())).append("]");
      }
    }
    return text;
  }

  FileName name_;
  MeteredBuffer& buffer_;
  Budget& budget_;
  Diagnostics& diagnostics_;
  std::vector<Frame> frames_;
  std::map<YAML::anchor_t, Subtree> anchors_;
  Subtree root_;
  std::optional<YAML::Mark> last_quoted_;
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
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // a byte order mark
  MeteredBuffer buffer{std::string{text}};
  Builder builder{name, buffer, budget, diagnostics};
  try {
    std::istream stream{&buffer};
    YAML::Parser parser{stream};
    while (parser.HandleNextDocument(builder)) {
    }
    const auto& quoted = builder.last_quoted();
    if (quoted && !is_quote_closed(text, static_cast<size_t>(quoted->pos))) {
      throw Refusal{builder.at(*quoted), "not valid YAML: this quote is never closed"};
    }
  } catch (const Refusal& refusal) {
    const bool is_placed = refusal.position.line > 0;
    diagnostics.error(is_placed ? refusal.position : Position{name}, "", refusal.message);
    return std::nullopt;
  } catch (const YAML::Exception& error) {
    diagnostics.error({name, error.mark.line + 1, error.mark.column + 1}, "",
                      "not valid YAML: " + error.msg);
    return std::nullopt;
  }
  return builder.take_root();
}

}  // namespace orrery::config
