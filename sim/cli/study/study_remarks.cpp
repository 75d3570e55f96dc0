#include "sim/cli/study/study_remarks.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

namespace orrery {

Position place_in_study(const Position& position, std::span<const Position> places) {
  constexpr std::string_view kPrefix = "--set #";
  const std::string& file = position.file.text();
  if (!file.starts_with(kPrefix)) return position;
  size_t number = 0;
  std::from_chars(file.data() + kPrefix.size(), file.data() + file.size(), number);
  return number == 0 || number > places.size() ? position : places[number - 1];
}

void StudyRemarks::add(const Cell& cell, std::span<const Position> places,
                       const Diagnostics& diagnostics) {
  cells_ = std::max(cells_, cell.number + 1);
  const auto take = [&](Kind kind, const std::vector<Diagnostics::Entry>& all) {
    for (const Diagnostics::Entry& one : all) {
      add(kind, cell, {place_in_study(one.position, places), one.path, one.message});
    }
  };
  take(Kind::Mistake, diagnostics.mistake_entries());
  take(Kind::Warning, diagnostics.warning_entries());
}

void StudyRemarks::add(Kind kind, const Cell& cell, Diagnostics::Entry entry) {
  std::string key = std::to_string(static_cast<int>(kind)) + to_string(entry.position);
  key.append(" ").append(entry.path).append(" ").append(entry.message);
  const auto [at, is_new] = numbers_.try_emplace(std::move(key), remarks_.size());
  if (is_new) {
    mistakes_ += kind == Kind::Mistake ? 1 : 0;
    remarks_.push_back({kind, std::move(entry), cell, cell.number});
    return;
  }
  Remark& remark = remarks_[at->second];
  remark.cells += remark.last == cell.number ? 0 : 1;
  remark.last = cell.number;
}

std::string StudyRemarks::where(const Remark& remark) const {
  if (remark.cells == 1) return " (in the cell " + remark.first.label + ")";
  if (remark.cells == cells_) return " (in all " + std::to_string(cells_) + " cells)";
  return " (in " + std::to_string(remark.cells) + " of " + std::to_string(cells_) +
         " cells, the first is " + remark.first.label + ")";
}

void StudyRemarks::tell(Diagnostics& diagnostics) const {
  for (const Remark& remark : remarks_) {
    const auto& [position, path, message] = remark.entry;
    if (remark.kind == Kind::Mistake) {
      diagnostics.error(position, path, message + where(remark));
    } else {
      diagnostics.warning(position, path, message + where(remark));
    }
  }
}

}  // namespace orrery
