// sim/cli/summary_text.hpp -- the figures of a run on one screen.
#pragma once

#include <span>
#include <string>

#include "models/run/simulation.hpp"

namespace orrery {

std::string format_figure(const SummaryValue& value);  // "1,234 jobs", "81.50 %"
// Grouped by what the names are about: a figure added by a model tomorrow finds its place too.
std::string summary_text(const SimulationResult& result, const std::string& output_path);

}  // namespace orrery
