// models/scheduling/feasibility/too_large.hpp -- finds jobs that are too large even for the empty
// cluster.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/scheduling/feasibility/room_table.hpp"
#include "models/workload/job/job_news.hpp"
#include "models/workload/job/job_table.hpp"

namespace orrery {

// Counts the slots for each kind of pod separately, so an infeasible mix of different pods may be
// missed. Every job that is reported can never start. Taints and cordons count as at the latest
// count for the kind; down nodes are included.
class TooLargeJobs {
 public:
  TooLargeJobs(const ClusterState& cluster, const JobTable& jobs);

  void connect(JobNews& jobs) { jobs.job_arrived.connect(*this, &TooLargeJobs::job_arrived); }
  void job_arrived(JobId job);
  uint64_t jobs() const { return jobs_found_; }
  const std::string& first() const { return first_; }  // request of the first such job; empty: none

 private:
  struct Slots {
    int64_t found = 0;
    bool are_all = false;
  };
  int64_t slots(SpecId spec, int64_t pods);  // at least `pods`, or all slots
  std::string describe(const Job& job, SpecId spec, int64_t pods, int64_t room) const;

  const ClusterState& cluster_;
  const JobTable& jobs_;
  RoomTable empty_;           // always empty
  std::vector<Slots> slots_;  // by spec
  std::string first_;
  uint64_t jobs_found_ = 0;
};

}  // namespace orrery
