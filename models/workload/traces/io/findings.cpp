#include "models/workload/traces/io/findings.hpp"

#include <algorithm>
#include <utility>

#include "sim/config/diagnostics.hpp"
#include "sim/core/check.hpp"

namespace orrery::traces {

Findings::Findings(Options options) : options_{std::move(options)} {
  ORRERY_CHECK(options_.errors_max > 0,
               "errors_max must be at least 1, so that a reader that stops can say why");
}

void Findings::mistake(std::string_view what) {
  if (!row_ok_) return;
  row_ok_ = false;
  const auto message = [&] {
    return options_.file + ":" + std::to_string(row_) + std::string{what};
  };
  if (options_.is_lenient) {
    if (++skipped_ == 1) first_skipped_ = message();
    if (examples_.size() < kExamplesMax) examples_.push_back(message());
    return;
  }
  if (errors_.size() < options_.errors_max) errors_.push_back(message());
  is_stopped_ = is_stopped_ || errors_.size() >= options_.errors_max;
}

void Findings::wrong_field(size_t column, std::string_view name, std::string_view found,
                           std::string_view expected) {
  if (!row_ok_) return;
  std::string text = ":" + std::to_string(column);
  text.append(" (").append(name).append("): found ").append(in_quotes(found));
  text.append(", expected ").append(expected);
  mistake(text);
}

void Findings::stop(const std::string& message) {
  row_ok_ = false;
  is_stopped_ = true;
  if (errors_.size() < options_.errors_max) errors_.push_back(message);
}

void Findings::take_over(const Findings& beside) {
  for (const std::string& error : beside.errors_) stop(error);
  for (const std::string& example : beside.examples_) {
    if (examples_.size() < kExamplesMax) examples_.push_back(example);
  }
  if (beside.skipped_ == 0) return;
  beside_.push_back(
      {.what = "of " + beside.file() + " malformed, skipped; the first: " + beside.first_skipped_,
       .rows = beside.skipped_});
}

void Findings::leave_out(std::string_view what) {
  if (!row_ok_) return;
  count(left_out_, what);
  row_ok_ = false;
}

void Findings::count(std::vector<Count>& counts, std::string_view what) const {
  const auto found = std::find_if(counts.begin(), counts.end(),
                                  [&](const Count& known) { return known.what == what; });
  if (found != counts.end()) {
    ++found->rows;
  } else {
    counts.push_back({.what = what, .rows = 1, .first_row = row_});
  }
}

std::vector<TraceNote> notes_of(const Findings& findings) {
  std::vector<TraceNote> notes;
  if (findings.skipped() > 0) {
    notes.push_back({.what = "malformed, skipped; the first: " + findings.first_skipped(),
                     .rows = findings.skipped()});
  }
  for (const Findings::Count& count : findings.left_out()) {
    notes.push_back({"left out: " + std::string{count.what}, count.rows, count.first_row});
  }
  for (const Findings::Count& count : findings.remarks()) {
    notes.push_back({std::string{count.what}, count.rows, count.first_row});
  }
  notes.insert(notes.end(), findings.beside().begin(), findings.beside().end());
  return notes;
}

}  // namespace orrery::traces
