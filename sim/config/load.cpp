// sim/config/load.cpp -- loads files and texts as documents, and merges what they include.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>

#include "sim/config/parse.hpp"

namespace orrery::config {
namespace {

namespace fs = std::filesystem;

std::string_view kind_of(const Node& node) {
  const Node* kind = node.find("kind");
  return kind == nullptr ? std::string_view{} : std::string_view{kind->text};
}

// Two maps are merged key by key. Otherwise `overlay` replaces `base`. It also replaces a map of
// another `kind`, because the parameters of one kind make no sense for another.
void merge_into(Node& base, Node overlay) {
  const bool is_other_kind = !kind_of(overlay).empty() && kind_of(overlay) != kind_of(base);
  if (!base.is_map() || !overlay.is_map() || is_other_kind) {
    base = std::move(overlay);
    return;
  }
  base.position = overlay.position;
  // `index` holds views of the keys in base.entries, so push_back() must not move the entries.
  base.entries.reserve(base.entries.size() + overlay.entries.size());
  std::map<std::string_view, size_t> index;
  for (size_t i = 0; i < base.entries.size(); ++i) index[base.entries[i].key] = i;
  for (Entry& entry : overlay.entries) {
    const auto found = index.find(entry.key);
    if (found == index.end()) {
      base.entries.push_back(std::move(entry));
    } else {
      Entry& target = base.entries[found->second];
      target.key_position = entry.key_position;
      merge_into(target.value, std::move(entry.value));
    }
  }
}

// Reads at most kFileBytes + 1 bytes. The parser rejects a text of more than kFileBytes.
std::optional<std::string> read_file(const std::string& path) {
  constexpr size_t kPiece = size_t{64} << 10U;
  std::ifstream stream{path, std::ios::binary};
  if (!stream) return std::nullopt;
  std::string text;
  while (stream && text.size() <= Limits::kFileBytes) {
    const size_t used = text.size();
    text.resize(std::min(used + kPiece, Limits::kFileBytes + 1));
    stream.read(text.data() + used, static_cast<std::streamsize>(text.size() - used));
    text.resize(used + static_cast<size_t>(stream.gcount()));
  }
  return stream.bad() ? std::nullopt : std::optional{std::move(text)};
}

class Loader {
 public:
  Loader(Document& document, Diagnostics& diagnostics)
      : document_{document}, diagnostics_{diagnostics} {}

  std::optional<Node> load_file(const std::string& shown, const Position& from) {
    const auto refuse = [&](const std::string& message) {
      diagnostics_.error(from, "", message);
      return std::nullopt;
    };
    std::error_code error;
    const fs::file_status status = fs::status(shown, error);
    if (!fs::exists(status)) return refuse("cannot open " + in_quotes(shown) + ": no such file");
    if (!fs::is_regular_file(status)) return refuse(in_quotes(shown) + " is not a regular file");
    const std::string canonical = fs::canonical(shown, error).string();
    for (const Open& open : open_) {
      if (open.canonical == canonical) return refuse("includes itself: " + chain_to(shown));
    }
    if (open_.size() > static_cast<size_t>(Limits::kIncludeDepth)) {
      return refuse("includes nested more than " + std::to_string(Limits::kIncludeDepth) +
                    " files deep");
    }
    if (--budget_.files < 0) {
      return refuse("more than " + std::to_string(Limits::kFiles) + " included files");
    }
    const std::optional<std::string> text = read_file(shown);
    if (!text) return refuse("cannot read " + in_quotes(shown));
    open_.push_back({shown, canonical});
    std::optional<Node> root = load_text(*text, shown);
    open_.pop_back();
    return root;
  }

  std::optional<Node> load_text(std::string_view text, const std::string& shown) {
    const FileName name{shown};
    document_.sources.push_back({shown, std::string{text}});
    std::optional<Node> root = parse_yaml(text, name, budget_, diagnostics_);
    if (!root) return std::nullopt;
    if (!root->is_map()) {
      const Position at = root->is_null() ? Position{name, 1, 1} : root->position;
      diagnostics_.error(at, "",
                         root->is_null()     ? "the file is empty"
                         : root->is_scalar() ? kPlainText
                                             : "expected a map at the top, got " + what_is(*root));
      return std::nullopt;
    }
    return resolve_includes(std::move(*root));
  }

 private:
  struct Open {
    std::string shown, canonical;
  };

  std::string chain_to(const std::string& last) const {
    std::string text;
    for (const Open& open : open_) text += open.shown + " -> ";
    return text + last;
  }

  std::optional<Node> resolve_includes(Node root) {
    const auto found = std::find_if(root.entries.begin(), root.entries.end(),
                                    [](const Entry& entry) { return entry.key == "include"; });
    if (found == root.entries.end()) return root;
    const Node include = std::move(found->value);
    root.entries.erase(found);
    if (open_.empty()) {
      diagnostics_.error(include.position, "include", "only a file can include others");
      return std::nullopt;
    }
    std::vector<const Node*> names;
    if (include.is_scalar()) names.push_back(&include);
    for (const Node& item : include.items) names.push_back(&item);
    const bool is_list_of_names = (include.is_scalar() || include.is_sequence()) &&
                                  std::all_of(names.begin(), names.end(), [](const Node* n) {
                                    return n->is_scalar() && !n->text.empty();
                                  });
    if (!is_list_of_names) {
      diagnostics_.error(include.position, "include", "expected a file name or a list of them");
      return std::nullopt;
    }
    Node merged = make_null(root.position);
    merged.kind = Kind::Map;
    bool is_complete = true;
    const fs::path folder = fs::path{open_.back().shown}.parent_path();
    for (const Node* name : names) {
      const std::string shown = (folder / name->text).lexically_normal().string();
      std::optional<Node> included = load_file(shown, name->position);
      is_complete = is_complete && included.has_value();
      if (included) merge_into(merged, std::move(*included));
    }
    if (!is_complete) return std::nullopt;
    merge_into(merged, std::move(root));
    return merged;
  }

  Document& document_;
  Diagnostics& diagnostics_;
  Budget budget_;
  std::vector<Open> open_;
};

Document finish(Document document, std::optional<Node> root) {
  document.is_usable = root.has_value();
  if (root) document.root = std::move(*root);
  return document;
}

}  // namespace

Document load_file(const std::string& path, Diagnostics& diagnostics) {
  Document document;
  std::optional<Node> root = Loader{document, diagnostics}.load_file(path, Position{path});
  return finish(std::move(document), std::move(root));
}

Document load_text(std::string_view text, std::string_view name, Diagnostics& diagnostics) {
  Document document;
  std::optional<Node> root = Loader{document, diagnostics}.load_text(text, std::string{name});
  return finish(std::move(document), std::move(root));
}

}  // namespace orrery::config
