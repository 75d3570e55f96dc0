// models/run/summary_figures.hpp -- the possible figures of /summary, known without a run.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "models/scenario/scenario.hpp"
#include "sim/record/recorder.hpp"

namespace orrery {

struct KnownFigure {
  SummaryValue figure;       // its value is meaningless
  bool is_of_course = true;  // a run with the feature writes it in any case
};
// Every figure that a run may write, in the order of writing.
std::vector<KnownFigure> known_figures();

// The figures that every run of this scenario writes.
std::set<std::string> figures_of_course(const Scenario& scenario);

}  // namespace orrery
