// models/scheduling/toolbox/gittins.hpp -- the Gittins index of a job of which only its service is
// known.
#pragma once

#include <cstdint>
#include <span>

#include "models/scheduling/contract/policy_types.hpp"

namespace orrery {

// How likely a job that has had `attained` service ends within `quantum` more, over the service
// that takes on the mean, times a million; by samples of the service of whole jobs, sorted. Higher
// goes first; 0 beyond all samples. Probability and result are rounded to 5 and 4 digits, as in
// Tiresias' artifact.
ORRERY_API double gittins_index(std::span<const double> sorted, double attained, double quantum);

}  // namespace orrery
