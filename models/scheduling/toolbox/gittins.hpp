// models/scheduling/toolbox/gittins.hpp -- the Gittins index of a job by its attained service.
#pragma once

#include <cstdint>
#include <span>

#include "models/scheduling/contract/policy_types.hpp"

namespace orrery {

// The Gittins index P / E * 10^6 of a job that has had `attained` service (GPU time). Jobs with a
// higher index go first. `sorted` are samples of the service of whole jobs, ascending. Only samples
// above `attained` are used. Of these, a sample is short if it is at most `attained` + `quantum`
// and is not the last one. P is the share of short samples. E is the mean of the used samples: a
// short sample counts in full, every other sample as `quantum`. The index is 0 if at most one
// sample is above `attained`. P is rounded to 5 decimals and the index to 4, as in Tiresias'
// artifact. Example: samples 10 and 100, attained 0 and quantum 30 give P = 1/2 and E = (10 + 30) /
// 2 = 20, so the index is 25,000.
ORRERY_API double gittins_index(std::span<const double> sorted, double attained, double quantum);

}  // namespace orrery
