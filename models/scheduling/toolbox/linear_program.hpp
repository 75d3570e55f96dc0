// models/scheduling/toolbox/linear_program.hpp -- the largest value of a linear function under
// linear
// bounds.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/scheduling/contract/policy_types.hpp"

namespace orrery {

// Maximises `gain * x` over x >= 0 under rows `low <= a * x <= high`. Where several x are best, any
// of them may be the answer, though always the same one: rely on the value alone.
class ORRERY_API LinearProgram {
 public:
  struct Term {
    int32_t column = 0;
    double factor = 0;
  };
  struct Bounds {
    double low = 0, high = 0;  // infinite: none
  };
  struct Solution {
    double value = 0;
    std::vector<double> x;
  };
  int32_t add_column(double gain);  // its number, from 0
  void set_gain(int32_t column, double gain) { gains_[static_cast<size_t>(column)] = gain; }
  void add_row(std::span<const Term> terms, Bounds bounds);
  std::optional<Solution> solve() const;  // none: no x will do, or the value has no bound

 private:
  std::vector<double> gains_;
  std::vector<int32_t> row_begin_ = {0};
  std::vector<int32_t> columns_;
  std::vector<double> factors_;
  std::vector<double> low_, high_;
};

}  // namespace orrery
