// models/scheduling/toolbox/gittins.hpp -- the Gittins index of a job by its attained service.
#pragma once

#include <cstdint>
#include <span>

#include "models/scheduling/contract/policy_types.hpp"

namespace orrery {

// The probability that a job with `attained` service ends within `quantum` more, over the mean
// service until then, times a million; `sorted` are samples of the service of whole jobs. Higher
// goes first; 0 beyond all samples. Probability and result are rounded to 5 and 4 digits, as in
// Tiresias' artifact. Example: samples 10 and 100, attained 0, quantum 10: the probability is 1/2
// and the mean service 10, so the index is 50,000.
ORRERY_API double gittins_index(std::span<const double> sorted, double attained, double quantum);

}  // namespace orrery
