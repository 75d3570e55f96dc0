// sim/cli/study/study_remarks.hpp -- mistakes and warnings about the cells of a study, each
// reported once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "sim/config/diagnostics.hpp"

namespace orrery {

// Maps a position in a setting to the position of that setting in the study file. Example:
// "--set #3:1:14", in the third setting, becomes places[2]. All other positions stay as they are.
Position place_in_study(const Position& position, std::span<const Position> places);

// Collects the mistakes and warnings of all cells. Those that are equal in several cells are
// reported once.
class StudyRemarks {
 public:
  struct Cell {
    size_t number = 0;  // cells are added in the order of their numbers
    std::string label;
  };
  // `places`: positions of the cell's settings, in the order in which they were applied.
  void add(const Cell& cell, std::span<const Position> places, const Diagnostics& diagnostics);
  bool full() const { return mistakes_ >= Diagnostics::kKeptMax; }  // further mistakes are dropped
  void tell(Diagnostics& diagnostics) const;

 private:
  enum class Kind : uint8_t { Mistake, Warning };
  struct Remark {
    Kind kind;
    Diagnostics::Entry entry;
    Cell first;
    size_t last = 0, cells = 1;
  };
  void add(Kind kind, const Cell& cell, Diagnostics::Entry entry);
  std::string where(const Remark& remark) const;

  size_t cells_ = 0, mistakes_ = 0;
  std::vector<Remark> remarks_;
  std::map<std::string, size_t> numbers_;  // index of a remark by its text and position
};

}  // namespace orrery
