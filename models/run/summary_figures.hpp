// models/run/summary_figures.hpp -- the figures that a run's /summary may hold.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "models/scenario/scenario.hpp"
#include "sim/record/recorder.hpp"

namespace orrery {

struct KnownFigure {
  SummaryValue figure;  // name, unit and doc; the value comes from an example run
  // False if a run writes the figure only after certain events, such as the start of a job.
  bool is_of_course = true;
};
// All figures that a run may write. To find these figures, two small scenarios are run.
std::vector<KnownFigure> known_figures();

// The figures that every run of this scenario writes.
std::set<std::string> figures_of_course(const Scenario& scenario);

}  // namespace orrery
