// sim/cli/study/study_pairs.hpp -- `orrery study pairs`: paired differences between the columns of
// a CSV table.
#pragma once

#include <istream>
#include <string>

#include "sim/cli/study/paired.hpp"

namespace orrery {

// `table` is CSV: a row with the names of the columns, then a row for each seed. An empty cell is a
// missing value. The first column is the baseline. Every later column is compared with the
// baseline, and gives a row of the returned CSV: the column's name as `arm`, then columns named as
// in /differences of study.h5. Throws a UsageError that names the line. `name` is the name of the
// table in messages.
std::string pairs_csv(std::istream& table, const std::string& name, const IntervalOptions& options);

}  // namespace orrery
