#include "models/scheduling/job_queue/job_records.hpp"

#include "sim/core/check.hpp"

namespace orrery {

QueuedJob& JobRecords::add(JobId id, const Job& job, Time now) {
  JobSlot slot = static_cast<JobSlot>(records_.size());
  if (free_slots_.empty()) {
    records_.emplace_back();
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  if (id.index >= slot_of_.size()) slot_of_.resize(id.index + size_t{1}, kNoJob);
  slot_of_[id.index] = slot;
  QueuedJob& record = records_[slot];
  record = {.slot = slot,
            .id = id,
            .serial = job.serial,
            .user = users_.number(job.spec.user),
            .team = teams_.number(job.spec.team),
            .application = applications_.number(job.spec.application),
            .priority = job.priority,
            .submitted = job.spec.submitted,
            .queued = now};
  return record;
}

QueuedJob& JobRecords::operator[](JobSlot slot) {
  ORRERY_CHECK(slot < records_.size(), "there is such a job");
  return records_[slot];
}

const QueuedJob& JobRecords::operator[](JobSlot slot) const {
  ORRERY_CHECK(slot < records_.size(), "there is such a job");
  return records_[slot];
}

}  // namespace orrery
