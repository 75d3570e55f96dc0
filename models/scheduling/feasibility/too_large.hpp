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

// For each pod spec, compares how many pods a job needs with how many fit on the empty cluster.
// Each spec is compared separately, so a job whose different pods do not fit together may be
// missed. Nodes that are down are included. Taints and cordons are those at the time of the count;
// later changes of taints or cordons have no effect.
class TooLargeJobs {
 public:
  TooLargeJobs(const ClusterState& cluster, const JobTable& jobs);

  void connect(JobNews& jobs) { jobs.job_arrived.connect(*this, &TooLargeJobs::job_arrived); }
  void job_arrived(JobId job);
  uint64_t jobs() const { return jobs_found_; }
  const std::string& first() const { return first_; }  // describes the first such job; empty: none

 private:
  struct Slots {
    int64_t found = 0;
    bool are_all = false;  // no more than `found` fit
  };
  // How many pods of the spec fit on the empty cluster. Counting stops once there is room for
  // `pods`.
  int64_t slots(SpecId spec, int64_t pods);
  std::string describe(const Job& job, SpecId spec, int64_t pods, int64_t room) const;

  const ClusterState& cluster_;
  const JobTable& jobs_;
  RoomTable empty_;           // no pods are put into it
  std::vector<Slots> slots_;  // by spec
  std::string first_;
  uint64_t jobs_found_ = 0;
};

}  // namespace orrery
