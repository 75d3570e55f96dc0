// sim/cli/study/study_remarks.hpp -- what is to be said of the cells of a study, once each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "sim/config/diagnostics.hpp"

namespace orrery {

// Where it stands in the study: "--set #3:1:14" is of the third setting. All else is where it is.
Position place_in_study(const Position& position, std::span<const Position> places);

// Gathers what was told of each cell. A mistake in any is one of the study, a warning likewise.
class StudyRemarks {
 public:
  struct Cell {
    size_t number = 0;  // they come in this order
    std::string label;
  };
  // `places`: of the settings of the cell, in the order in which they were applied.
  void add(const Cell& cell, std::span<const Position> places, const Diagnostics& told);
  bool full() const { return mistakes_ >= Diagnostics::kKeptMax; }  // more would not be kept
  void tell(Diagnostics& diagnostics) const;

 private:
  enum class Kind : uint8_t { Mistake, Warning };
  struct Remark {
    Kind kind;
    Diagnostics::Told told;
    Cell first;
    size_t last = 0, cells = 1;
  };
  void add(Kind kind, const Cell& cell, Diagnostics::Told told);
  std::string where(const Remark& remark) const;

  size_t cells_ = 0, mistakes_ = 0;
  std::vector<Remark> remarks_;
  std::map<std::string, size_t> numbers_;  // of remarks, by what makes two the same
};

}  // namespace orrery
