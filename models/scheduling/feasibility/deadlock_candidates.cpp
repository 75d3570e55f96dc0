#include "models/scheduling/feasibility/deadlock_candidates.hpp"

#include <algorithm>

namespace orrery {

void DeadlockCandidates::begin(JobId id, uint64_t serial) {
  if (id.index >= records_.size()) records_.resize(jobs_.jobs_bound());
  if (records_[id.index].is_candidate) std::erase(by_serial_, id);
  records_[id.index] = {.serial = serial};
}

std::vector<JobId>::iterator DeadlockCandidates::place(JobId id) {
  return std::ranges::lower_bound(by_serial_, records_[id.index].serial, {},
                                  [this](JobId job) { return records_[job.index].serial; });
}

void DeadlockCandidates::add(JobId id) {
  by_serial_.insert(place(id), id);
  records_[id.index].is_candidate = true;
}

void DeadlockCandidates::remove(JobId id) {
  by_serial_.erase(place(id));
  records_[id.index].is_candidate = false;
  records_[id.index].standing = Standing::Free;
}

}  // namespace orrery
