// policies/python/job_views.hpp -- jobs and the board of the job queue as Python sees them.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <vector>

#include "models/scheduling/contract/job_policy_api.hpp"
#include "policies/python/interpreter.hpp"
#include "policies/python/lent.hpp"
#include "policies/python/pod_views.hpp"

namespace orrery::python {

// A job, looked up at each access, so Python may keep the reference.
struct JobRef {
  Lent<JobBoard> board;
  JobSlot slot;
  uint64_t serial;
  const QueuedJob& get() const;  // throws std::runtime_error once the job is over
};
JobRef job_of(const Lent<JobBoard>& board, JobSlot slot);

struct BoardRef {
  Lent<JobBoard> board;
};

struct News {
  std::vector<JobRef> arrived;
  bool has_room = false, has_longer = false;
};

}  // namespace orrery::python
