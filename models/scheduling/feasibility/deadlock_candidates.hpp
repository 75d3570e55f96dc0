// models/scheduling/feasibility/deadlock_candidates.hpp -- jobs that may be stuck, sorted by
// serial.
#pragma once

#include <cstdint>
#include <vector>

#include "models/scheduling/feasibility/room_table.hpp"
#include "models/workload/job/job_table.hpp"

namespace orrery {

enum class Standing : uint8_t { Free, Deadlocked, Infeasible };

struct DeadlockCandidate {
  uint64_t serial = UINT64_MAX;
  bool is_candidate = false;
  bool is_infeasible = false;  // the last reduction found that the missing pods can never fit
  bool is_counted = false;     // counted among the infeasible jobs of the summary
  Standing standing = Standing::Free;
  std::vector<PodNeed> needs = {};  // pods that the job lacks to start
  bool is_stuck() const { return standing != Standing::Free; }
};

class DeadlockCandidates {
 public:
  explicit DeadlockCandidates(const JobTable& jobs) : jobs_{jobs} {}

  // Clears the record, which may be that of an earlier job with this id.
  void begin(JobId id, uint64_t serial);
  void add(JobId id);
  void remove(JobId id);  // the job's standing is Free afterwards
  const std::vector<JobId>& all() const { return by_serial_; }
  DeadlockCandidate& operator[](JobId id) { return records_[id.index]; }
  const DeadlockCandidate& operator[](JobId id) const { return records_[id.index]; }

 private:
  std::vector<JobId>::iterator place(JobId id);

  const JobTable& jobs_;
  std::vector<DeadlockCandidate> records_;  // by job
  std::vector<JobId> by_serial_;
};

}  // namespace orrery
