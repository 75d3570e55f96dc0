// sim/cli/study/study_pairs.hpp -- `orrery study pairs`: paired differences of the user's own
// table.
#pragma once

#include <istream>
#include <string>

#include "sim/cli/study/paired.hpp"

namespace orrery {

// `table` is CSV: a row of names, then a row for each seed; an empty cell is a missing value. Each
// further column is compared with the first one. Returns CSV with a row for each of these columns:
// its name as `arm`, then pairs, means, intervals and verdict, named as in /differences of
// study.h5. Throws a UsageError that names the line. `name` is the name of the table in messages.
std::string pairs_csv(std::istream& table, const std::string& name, const IntervalOptions& options);

}  // namespace orrery
