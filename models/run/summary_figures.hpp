// models/run/summary_figures.hpp -- the figures that runs write to /summary, known without a run.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "models/scenario/scenario.hpp"
#include "sim/record/recorder.hpp"

namespace orrery {

struct KnownFigure {
  SummaryValue figure;       // its value says nothing
  bool is_of_course = true;  // a run that has the feature writes it, whatever happens in the run
};
// Every figure that some run writes, in the order in which runs write them.
std::vector<KnownFigure> known_figures();

// Those that a run of this scenario writes of course.
std::set<std::string> figures_of_course(const Scenario& scenario);

}  // namespace orrery
