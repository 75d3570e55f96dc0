// models/scheduling/job_queue/job_records.hpp -- the job queue's record of each job, by slot.
#pragma once

#include <vector>

#include "models/scheduling/contract/job_policy_api.hpp"
#include "models/scheduling/job_queue/owner_names.hpp"
#include "models/workload/job/job_table.hpp"

namespace orrery {

// A slot is reused once its job is forgotten. References to records stay valid until add().
class JobRecords {
 public:
  // Adds a record in state Arrived. The caller must set `ask` and `estimate`.
  QueuedJob& add(JobId id, const Job& job, Time now);
  void forget(JobSlot slot) { free_slots_.push_back(slot); }

  QueuedJob& operator[](JobSlot slot);
  const QueuedJob& operator[](JobSlot slot) const;
  QueuedJob& of(JobId id) { return (*this)[slot_of_[id.index]]; }
  const OwnerNames& users() const { return users_; }
  const OwnerNames& teams() const { return teams_; }
  const OwnerNames& applications() const { return applications_; }

 private:
  std::vector<QueuedJob> records_;
  std::vector<JobSlot> free_slots_;
  std::vector<JobSlot> slot_of_;  // by job
  OwnerNames users_, teams_, applications_;
};

}  // namespace orrery
