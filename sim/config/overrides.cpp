// sim/config/overrides.cpp -- `--set path=value` on a loaded document, and the removal of a path.
#include <algorithm>
#include <charconv>

#include "sim/config/parse.hpp"

namespace orrery::config {
namespace {

struct Step {
  std::string text;
  bool is_index = false;  // written in brackets
  int column = 0;
};

struct Assignment {
  std::vector<Step> path;
  std::string_view value = {};
  int value_column = 0;
};

class Splitter {
 public:
  explicit Splitter(std::string_view text) : text_{text} {}

  // Reads the path at the beginning of the text. Returns nullopt if the text does not begin with a
  // path.
  std::optional<std::vector<Step>> path() {
    std::vector<Step> path;
    do {
      if (!step(path)) return std::nullopt;
      while (peek() == '[') {
        if (!index(path)) return std::nullopt;
      }
    } while (take('.'));
    return path;
  }
  // Returns nullopt if the text is not path=value; then column() is the position of the mistake.
  std::optional<Assignment> split() {
    auto steps = path();
    if (!steps || !take('=')) return std::nullopt;
    Assignment result{.path = std::move(*steps), .value = text_.substr(at_)};
    result.value_column = column();
    return result;
  }
  int column() const { return static_cast<int>(at_) + 1; }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  bool step(std::vector<Step>& path) {
    Step step{.text = {}, .column = column()};
    const bool is_quoted = take('"');
    const size_t end = std::min(text_.find_first_of(is_quoted ? "\"" : ".[=", at_), text_.size());
    step.text = text_.substr(at_, end - at_);
    at_ = end;
    if ((is_quoted && !take('"')) || step.text.empty()) return false;
    path.push_back(std::move(step));
    return true;
  }
  bool index(std::vector<Step>& path) {
    Step step{.text = {}, .is_index = true, .column = column()};
    take('[');
    const size_t end = std::min(text_.find_first_not_of("0123456789", at_), text_.size());
    step.text = text_.substr(at_, end - at_);
    at_ = end;
    if (step.text.empty() || !take(']')) return false;
    path.push_back(std::move(step));
    return true;
  }

  std::string_view text_;
  size_t at_ = 0;
};

// The number (from 1) of the first earlier override of `path`, or of a path inside of it; 0 if
// there is none. An override of `path` would undo that earlier one.
size_t first_undone(const std::vector<Step>& path, const std::vector<std::string>& earlier) {
  for (size_t i = 0; i < earlier.size(); ++i) {
    const auto other = Splitter{earlier[i]}.split();
    if (!other || other->path.size() < path.size()) continue;
    if (std::equal(path.begin(), path.end(), other->path.begin(),
                   [](const Step& a, const Step& b) { return a.text == b.text; })) {
      return i + 1;
    }
  }
  return 0;
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

// The step's number; empty if it is too large for any list.
std::optional<size_t> index_of(const Step& step) {
  size_t index = 0;
  const char* const end = step.text.data() + step.text.size();
  if (std::from_chars(step.text.data(), end, index).ec != std::errc{}) return std::nullopt;
  return index;
}

class Overrider {
 public:
  Overrider(const FileName& name, Diagnostics& diagnostics)
      : name_{name}, diagnostics_{diagnostics} {}

  // Returns the node that a step leads to. Creates this node if the key is missing. Returns null
  // after reporting a mistake.
  Node* go(Node& from, const Step& step, const std::string& path) {
    const Position at{name_, 1, step.column};
    if (from.is_sequence() && is_number(step.text)) return item(from, step, path);
    if (step.is_index) {
      diagnostics_.error(at, path, "expected a list here, found " + what_is(from));
      return nullptr;
    }
    if (from.is_null()) {
      from.kind = Kind::Map;
      from.position = at;
    }
    if (!from.is_map()) {
      diagnostics_.error(at, path,
                         "cannot set " + in_quotes(step.text) + " in " + what_is(from) +
                             (from.is_sequence() ? "; name an item by its index, from 0" : ""));
      return nullptr;
    }
    const auto found = std::find_if(from.entries.begin(), from.entries.end(),
                                    [&](const Entry& entry) { return entry.key == step.text; });
    if (found != from.entries.end()) return &found->value;
    from.entries.push_back({step.text, at, make_null(at)});
    return &from.entries.back().value;
  }

 private:
  Node* item(Node& list, const Step& step, const std::string& path) {
    const std::optional<size_t> index = index_of(step);
    if (index && *index < list.items.size()) return &list.items[*index];
    const size_t count = list.items.size();
    diagnostics_.error({name_, 1, step.column}, path,
                       "no item " + step.text + ": the list has " +
                           (count == 0 ? "no items" : "items 0 to " + std::to_string(count - 1)));
    return nullptr;
  }

  FileName name_;
  Diagnostics& diagnostics_;
};

}  // namespace

void apply_override(Document& document, std::string_view assignment, Diagnostics& diagnostics) {
  const std::vector<std::string> earlier = document.overrides;
  document.overrides.emplace_back(assignment);
  const FileName name{"--set #" + std::to_string(document.overrides.size())};
  Splitter splitter{assignment};
  const auto parsed = splitter.split();
  if (!parsed) {
    diagnostics.error({name, 1, splitter.column()}, "",
                      "expected path=value such as run.seed=7 or "
                      "cluster.pools[0].count=32, got " +
                          in_quotes(assignment));
    return;
  }
  if (parsed->path.size() > static_cast<size_t>(Limits::kDepth)) {
    diagnostics.error({name, 1, 1}, "",
                      "a path of more than " + std::to_string(Limits::kDepth) + " steps");
    return;
  }
  if (const size_t undone = first_undone(parsed->path, earlier); undone > 0) {
    diagnostics.error({name, 1, 1}, "",
                      "takes back what " + in_quotes(earlier[undone - 1]) + " has set");
    return;
  }
  // Spaces replace `path=`, so that columns in messages count from the start of the argument.
  const auto shift = static_cast<size_t>(parsed->value_column - 1);
  Budget budget;
  auto value = parse_yaml(std::string(shift, ' ').append(parsed->value), name, budget, diagnostics);
  if (!value || !document.is_usable) return;
  if (value->position.line == 0) value->position = {name, 1, parsed->value_column};
  Overrider overrider{name, diagnostics};
  Node* target = &document.root;
  std::string path;
  for (const Step& step : parsed->path) {
    target = overrider.go(*target, step, path);
    if (target == nullptr) return;
    path += step.is_index ? "[" + step.text + "]" : (path.empty() ? "" : ".") + step.text;
  }
  *target = std::move(*value);
}

void erase(Document& document, std::string_view path) {
  const auto steps = Splitter{path}.path();
  if (!steps) return;
  Node* from = &document.root;
  for (const Step& step : *steps) {
    const bool is_last = &step == &steps->back();
    if (step.is_index) {
      const size_t index = index_of(step).value_or(from->items.size());
      if (index >= from->items.size()) return;
      if (is_last) from->items.erase(from->items.begin() + static_cast<ptrdiff_t>(index));
      if (!is_last) from = &from->items[index];
      continue;
    }
    const auto found = std::ranges::find(from->entries, step.text, &Entry::key);
    if (found == from->entries.end()) return;
    if (is_last) from->entries.erase(found);
    if (!is_last) from = &found->value;
  }
}

}  // namespace orrery::config
