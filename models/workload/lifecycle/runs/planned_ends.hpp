// models/workload/lifecycle/runs/planned_ends.hpp -- how a run will stop by itself: as recorded in
// its trace, or drawn at random.
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

  // The planned end of a run of a gang or counted job (Job::is_counted). `start` is the number of
  // the start, from 0; the run begins with `done` of its `work` already done. Empty if no end is
  // planned.
  std::optional<RunStop> of(JobId job, uint32_t start, Duration done, Duration work) const;
  std::optional<RunStop> of(PodId pod, uint32_t start, Duration done) const;
  // Like of(), but ignores the recorded end of the pod's job: returns only an end drawn for the
  // pod's role.
  std::optional<RunStop> drawn(PodId pod, uint32_t start, Duration done) const;

 private:
  std::optional<RunStop> draw(const RoleSpec& role, Rng rng, Duration done, PodId pod) const;
  const RngStreams& rng_;
  const JobTable& jobs_;
};

}  // namespace orrery
