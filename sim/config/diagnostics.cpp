// sim/config/diagnostics.cpp -- ordering and wording of messages; edit distance.
#include "sim/config/diagnostics.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "sim/config/quantity.hpp"
#include "sim/core/printable.hpp"

namespace orrery {
namespace {

// The Damerau-Levenshtein distance, in which swapping two adjacent letters is one edit.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1);
  std::vector<size_t> above(b.size() + 1);
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

}  // namespace

const std::string& FileName::text() const {
  static const std::string kNone;
  return name_ ? *name_ : kNone;
}

std::string to_string(const Position& position) {
  std::string text = position.file.text();
  if (position.line > 0) {
    text.append(":").append(std::to_string(position.line));
    text.append(":").append(std::to_string(position.column));
  }
  return text;
}

void Diagnostics::keep(std::vector<Entry>& kept, const Position& position, std::string_view path,
                       std::string message) {
  if (kept.size() >= kKeptMax) return;
  kept.push_back({position, std::string{path}, std::move(message)});
}

void Diagnostics::error(const Position& position, std::string_view path, std::string message) {
  ++count_;
  keep(kept_, position, path, std::move(message));
}

void Diagnostics::warning(const Position& position, std::string_view path, std::string message) {
  ++warning_count_;
  keep(warnings_, position, path, std::move(message));
}

void Diagnostics::idle(const Position& position, std::string_view path, std::string message) {
  if (idle_parameters_ == Idle::Refused) return error(position, path, std::move(message));
  warning(position, path, std::move(message));
}

void Diagnostics::unheeded(int fact, Entry entry) {
  open_.push_back({.fact = fact, .entry = std::move(entry)});
}

void Diagnostics::instant(Duration at, Entry entry) {
  open_.push_back({.at = at, .entry = std::move(entry)});
}

// Reports parameters without effect: those stored by instant() whose time is after `end`, and those
// stored by unheeded() whose fact is false. A parameter with several reasons is reported once, with
// the first reason. If a section has no effect, the parameters inside of it are not reported.
void Diagnostics::settle(std::span<const std::optional<bool>> facts, std::optional<Duration> end) {
  std::vector<Entry> found;
  const auto is_reported = [&](const Open& open) {
    return std::ranges::any_of(found, [&](const Entry& one) {
      const bool is_below = open.entry.path.starts_with(one.path);
      const std::string rest = is_below ? open.entry.path.substr(one.path.size()) : "-";
      return rest.empty() || rest[0] == '.' || rest[0] == '[';
    });
  };
  std::ranges::stable_sort(open_, {}, [](const Open& one) { return one.entry.path.size(); });
  std::erase_if(open_, [&](Open& one) {
    if (one.at) {
      if (!end || *one.at <= *end) return true;
      idle(one.entry.position, one.entry.path,
           "has no effect: the run ends before, at " + format_quantity(*end));
      return true;
    }
    const std::optional<bool> holds = one.fact < 0 ? false : facts[static_cast<size_t>(one.fact)];
    if (holds == false && !is_reported(one)) found.push_back(one.entry);
    return holds.has_value();
  });
  std::erase_if(open_, is_reported);
  for (Entry& one : found) idle(one.position, one.path, std::move(one.message));
}

std::vector<std::string> Diagnostics::sorted(const std::vector<Entry>& kept, size_t count,
                                             std::string_view level) {
  std::vector<const Entry*> entries;
  for (const Entry& entry : kept) entries.push_back(&entry);
  std::stable_sort(entries.begin(), entries.end(), [](const Entry* a, const Entry* b) {
    const Position& p = a->position;
    const Position& q = b->position;
    return std::tie(p.file.text(), p.line, p.column) < std::tie(q.file.text(), q.line, q.column);
  });
  std::vector<std::string> texts;
  for (const Entry* entry : entries) {
    std::string text = to_string(entry->position);
    if (!text.empty()) text += ": ";
    text += level;
    if (!entry->path.empty()) text.append(entry->path).append(": ");
    texts.push_back(printable(text += entry->message));
  }
  if (count > kept.size()) {
    texts.push_back("... and " + std::to_string(count - kept.size()) + " more");
  }
  return texts;
}

std::vector<std::string> Diagnostics::messages() const { return sorted(kept_, count_, ""); }

std::vector<std::string> Diagnostics::warnings() const {
  return sorted(warnings_, warning_count_, "warning: ");
}

std::string Diagnostics::text() const {
  std::string all;
  for (const std::string& message : messages()) all += message + "\n";
  return all;
}

std::string did_you_mean(std::string_view wrong, const std::vector<std::string>& known) {
  // Names above this length are not compared, because edit_distance() takes quadratic time.
  constexpr size_t kLengthMax = 64;
  if (wrong.size() > kLengthMax) return "";
  const std::string* best = nullptr;
  size_t distance = std::max<size_t>(2, wrong.size() / 3) + 1;
  for (const std::string& name : known) {
    if (name.size() > kLengthMax) continue;
    const size_t candidate = edit_distance(wrong, name);
    // A name that shares no letter with `wrong` is never suggested, even if few edits are needed:
    // 'ab' is only two edits away from 'xy'.
    if (candidate >= distance || candidate >= std::max(wrong.size(), name.size())) continue;
    distance = candidate;
    best = &name;
  }
  return best == nullptr ? "" : "; did you mean '" + *best + "'?";
}

std::string in_quotes(std::string_view text) {
  constexpr size_t kShownMax = 60;
  size_t end = std::min(text.size(), kShownMax);
  // Does not cut a UTF-8 sequence: the end moves back to the start of the sequence.
  while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) {
    --end;
  }
  return "'" + printable(text.substr(0, end)) + (end < text.size() ? "...'" : "'");
}

}  // namespace orrery
