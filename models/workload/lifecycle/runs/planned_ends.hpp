// models/workload/lifecycle/runs/planned_ends.hpp -- how a run that starts will stop by itself, if
// nothing comes before: as its trace recorded it, or as it is drawn.
#pragma once

#include <cstdint>
#include <optional>

#include "models/workload/job/job_table.hpp"
#include "models/workload/lifecycle/runs/run.hpp"
#include "sim/core/rng.hpp"

namespace orrery {

class PlannedEnds {
 public:
  PlannedEnds(const RngStreams& rng, const JobTable& jobs) : rng_{rng}, jobs_{jobs} {}

  // Of the `start`-th start of a gang or a counted job, 0 the first, which has so much done and so
  // much work on the GPUs that it has.
  std::optional<RunStop> of(JobId job, uint32_t start, Duration done, Duration work) const;
  std::optional<RunStop> of(PodId pod, uint32_t start, Duration done) const;
  // Without what was recorded of its job.
  std::optional<RunStop> drawn(PodId pod, uint32_t start, Duration done) const;

 private:
  std::optional<RunStop> draw(const RoleSpec& role, Rng rng, Duration done, PodId pod) const;
  const RngStreams& rng_;
  const JobTable& jobs_;
};

}  // namespace orrery
