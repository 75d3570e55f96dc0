// sim/cli/summary_text.hpp -- the main figures of a run on one screen.
#pragma once

#include <span>
#include <string>

#include "models/run/simulation.hpp"

namespace orrery {

std::string format_figure(const SummaryValue& value);  // "1,234 jobs", "81.50 %"
// Groups figures by words in their names, so figures of new models get a group, too.
std::string summary_text(const SimulationResult& result, const std::string& output_path);

}  // namespace orrery
