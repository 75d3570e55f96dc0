// sim/cli/study/study_pairs.hpp -- `orrery study pairs`: paired differences of a table of one's
// own.
#pragma once

#include <istream>
#include <string>

#include "sim/cli/study/paired.hpp"

namespace orrery {

// A row of names, then a row for each seed; an empty cell is a value that is missing. Each column
// is compared with the first. CSV with the columns of /differences in study.h5, or a UsageError
// that names the line. `name` is of the table, for messages.
std::string pairs_csv(std::istream& table, const std::string& name, const IntervalOptions& options);

}  // namespace orrery
