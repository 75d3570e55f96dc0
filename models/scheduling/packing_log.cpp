#include "models/scheduling/packing_log.hpp"

#include <algorithm>

namespace orrery {

PackingLog::PackingLog(Sim sim, const ClusterState& cluster, const JobTable& jobs,
                       const Fragmentation& fragmentation)
    : sim_{sim},
      cluster_{cluster},
      jobs_{jobs},
      fragmentation_{fragmentation},
      measured_(cluster.nodes()),
      version_{cluster.version()},
      rows_{sim.recorder, "/timeline/packing",
            "The cluster as demand grows, one row for each percent of load."} {
  for (uint32_t n = 0; n < cluster.nodes(); ++n) {
    measured_[n] = fragmentation_.of(fragmentation_.node({n}));
    measured_sum_ += measured_[n];
  }
}

int64_t PackingLog::fragmented() {
  const auto measure = [&](NodeId n) {
    const int64_t now = fragmentation_.of(fragmentation_.node(n));
    measured_sum_ += now - measured_[n.index];
    measured_[n.index] = now;
  };
  if (cluster_.log_covers(version_)) {
    for (const NodeId n : cluster_.touched_since(version_)) measure(n);
  } else {
    for (uint32_t n = 0; n < cluster_.nodes(); ++n) measure({n});
  }
  version_ = cluster_.version();
  return measured_sum_;
}

int32_t PackingLog::load() const {
  const int64_t milli_total = std::max<int64_t>(1, cluster_.gpus_total() * kMilli);
  const int64_t percent = (200 * milli_arrived_ + milli_total) / (2 * milli_total);
  return static_cast<int32_t>(std::min<int64_t>(percent, INT32_MAX));
}

void PackingLog::take_sample() {
  const auto gpus = static_cast<double>(std::max<int64_t>(1, cluster_.gpus_total()));
  const double percent_per_milli = 100 / gpus / static_cast<double>(kMilli);
  allocated_sum_ += static_cast<double>(cluster_.gpu_milli_allocated()) * percent_per_milli;
  fragmented_sum_ += static_cast<double>(fragmented()) /
                     static_cast<double>(fragmentation_.weight()) * percent_per_milli;
}

void PackingLog::write_row() {
  if (row_.jobs == 0) return;
  row_.allocated = allocated_sum_ / row_.jobs;
  row_.fragmented = fragmented_sum_ / row_.jobs;
  rows_.emit(row_);
  row_.jobs = 0;
  allocated_sum_ = fragmented_sum_ = 0;
}

void PackingLog::job_arrived(JobId id) {
  if (row_.jobs > 0) take_sample();
  const Job& job = jobs_.job(id);
  JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId pod) {
    milli_arrived_ += jobs_.request(pod).resources[Resource::Gpu];
  });
  if (row_.load != load()) write_row();
  row_.load = load();
  row_.time = sim_.engine.now();
  ++row_.jobs;
}

void PackingLog::finish() {
  if (row_.jobs == 0) return;
  take_sample();
  write_row();
}

}  // namespace orrery
