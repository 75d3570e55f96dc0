// models/run/summary_figures.hpp -- the figures that runs write to /summary, known without a run.
#pragma once

#include <string>
#include <vector>

#include "models/scenario/scenario.hpp"
#include "sim/record/recorder.hpp"

namespace orrery {

// Every figure that some run writes, in the order in which runs write them. The values say nothing.
std::vector<SummaryValue> summary_figures();

// Of those, the ones that a run of this scenario does not write, as it lacks their feature. Figures
// that depend on what happens in a run, such as a join, are not among them.
std::vector<std::string> figures_lacking(const Scenario& scenario);

}  // namespace orrery
