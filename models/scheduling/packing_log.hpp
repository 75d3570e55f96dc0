// models/scheduling/packing_log.hpp -- allocation and fragmentation of the cluster as demand grows.
#pragma once

#include <cstdint>
#include <vector>

#include "models/hardware/cluster_state.hpp"
#include "models/scheduling/toolbox/fragmentation.hpp"
#include "models/workload/job/job_news.hpp"
#include "models/workload/job/job_table.hpp"
#include "sim/record/channel.hpp"
#include "sim/runtime/sim.hpp"

namespace orrery {

struct PackingSample {
  Time time;
  int32_t load = 0;
  uint32_t jobs = 0;
  double allocated = 0, fragmented = 0;

  static void columns(auto&& c) {
    c("time", &PackingSample::time, "arrival of the last job that the row covers");
    c("load", &PackingSample::load,
      "GPUs requested by all jobs that have arrived, ended jobs included, as a share of the "
      "cluster's GPUs; rounded",
      "%");
    c("jobs", &PackingSample::jobs, "jobs whose arrival brought the load to this percent", "jobs");
    c("allocated", &PackingSample::allocated,
      "GPUs reserved for pods, as a share of the cluster's GPUs. For each job of the row, one "
      "sample is taken just before the next job arrives, or at the end of the run; the value is "
      "the mean of these samples",
      "%");
    c("fragmented", &PackingSample::fragmented,
      "idle GPU capacity that pods of workload.typical_pods cannot use, as a share of the "
      "cluster's GPUs; mean of samples taken at the same times as those of `allocated`",
      "%");
  }
};

// Writes one row for each percent of load. The row covers the jobs whose arrival brought the
// rounded load to this percent; without such a job, there is no row. Allocated and idle capacity
// are those of the scheduler's cluster state: with a control plane, a pod holds its GPUs in this
// state until the scheduler has observed the end of the pod.
class PackingLog {
 public:
  PackingLog(Sim sim, const ClusterState& cluster, const JobTable& jobs,
             const Fragmentation& fragmentation);

  void connect(JobNews& jobs) { jobs.job_arrived.connect(*this, &PackingLog::job_arrived); }
  void finish();

 private:
  void job_arrived(JobId job);
  void take_sample();
  void write_row();
  int32_t load() const;
  int64_t fragmented();  // Fragmentation::of() summed over all nodes

  Sim sim_;
  const ClusterState& cluster_;
  const JobTable& jobs_;
  const Fragmentation& fragmentation_;
  std::vector<int64_t> measured_;  // Fragmentation::of() of each node at the last measurement
  int64_t measured_sum_ = 0;
  uint64_t version_ = 0;  // version of the cluster at the last measurement
  int64_t milli_arrived_ = 0;
  // The row in progress, and sums for its means.
  PackingSample row_;
  double allocated_sum_ = 0, fragmented_sum_ = 0;
  Channel<PackingSample> rows_;
};

}  // namespace orrery
