// models/scheduling/toolbox/linear_program.hpp -- maximises a linear function under linear
// constraints.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/scheduling/contract/policy_types.hpp"

namespace orrery {

// Maximises `gain * x` over x >= 0 under rows `low <= a * x <= high`. If several x are best, every
// call for the same program returns the same x, but which one is unspecified. Example: gains 3 and
// 2 under x + y <= 4 and x <= 3 give x = 3, y = 1 and the value 11.
class ORRERY_API LinearProgram {
 public:
  struct Term {
    int32_t column = 0;
    double factor = 0;
  };
  struct Bounds {
    double low = 0, high = 0;  // infinite if there is no bound
  };
  struct Solution {
    double value = 0;
    std::vector<double> x;
  };
  int32_t add_column(double gain);  // returns the number of the column, from 0
  void set_gain(int32_t column, double gain) { gains_[static_cast<size_t>(column)] = gain; }
  void add_row(std::span<const Term> terms, Bounds bounds);
  // Empty: no x satisfies the rows, or the value is unbounded.
  std::optional<Solution> solve() const;

 private:
  std::vector<double> gains_;
  std::vector<int32_t> row_begin_ = {0};
  std::vector<int32_t> columns_;
  std::vector<double> factors_;
  std::vector<double> low_, high_;
};

}  // namespace orrery
