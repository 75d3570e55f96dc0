#include "models/scheduling/toolbox/linear_program.hpp"

#include <coin/Clp_C_Interface.h>

#include <algorithm>
#include <limits>
#include <memory>

namespace orrery {

int32_t LinearProgram::add_column(double gain) {
  gains_.push_back(gain);
  return static_cast<int32_t>(gains_.size()) - 1;
}

void LinearProgram::add_row(std::span<const Term> terms, Bounds bounds) {
  for (const Term& term : terms) {
    if (term.factor == 0) continue;
    columns_.push_back(term.column);
    factors_.push_back(term.factor);
  }
  row_begin_.push_back(static_cast<int32_t>(columns_.size()));
  low_.push_back(bounds.low);
  high_.push_back(bounds.high);
}

std::optional<LinearProgram::Solution> LinearProgram::solve() const {
  const std::unique_ptr<Clp_Simplex, void (*)(Clp_Simplex*)> model{Clp_newModel(),
                                                                   &Clp_deleteModel};
  Clp_setLogLevel(model.get(), 0);
  const auto columns = static_cast<int>(gains_.size());
  Clp_resize(model.get(), 0, columns);
  std::ranges::copy(gains_, Clp_objective(model.get()));
  std::fill_n(Clp_columnLower(model.get()), columns, 0.0);
  std::fill_n(Clp_columnUpper(model.get()), columns, std::numeric_limits<double>::max());
  Clp_setObjSense(model.get(), -1);
  Clp_addRows(model.get(), static_cast<int>(low_.size()), low_.data(), high_.data(),
              row_begin_.data(), columns_.data(), factors_.data());
  Clp_initialDualSolve(model.get());
  if (Clp_status(model.get()) != 0) return std::nullopt;
  const double* const x = Clp_primalColumnSolution(model.get());
  return Solution{.value = Clp_objectiveValue(model.get()), .x = {x, x + columns}};
}

}  // namespace orrery
