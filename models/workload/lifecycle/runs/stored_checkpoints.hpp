// models/workload/lifecycle/runs/stored_checkpoints.hpp -- transfers of gang checkpoints to a store
// and back.
#pragma once

#include <vector>

#include "models/storage/storage.hpp"
#include "models/workload/job/job_table.hpp"
#include "sim/core/callback.hpp"
#include "sim/core/id.hpp"
#include "sim/core/time.hpp"

namespace orrery {

// A job has at most one transfer at a time.
class StoredCheckpoints {
 public:
  StoredCheckpoints(Storage& storage, const JobTable& jobs) : storage_{storage}, jobs_{jobs} {}

  // How long GPUs stall for an asynchronous checkpoint.
  Duration copy_time(JobId job) const;
  void write(JobId job, Callback done);
  void read(JobId job, Callback done);
  void cancel(JobId job);  // cancels any transfer of the job
  // Nodes of the pods that write or read, in id order, each once.
  std::vector<NodeId> nodes(JobId job, Direction direction) const;

 private:
  void start(JobId job, Direction direction, Callback done);
  Storage& storage_;
  const JobTable& jobs_;
  std::vector<FlowId> under_way_;  // by job
};

}  // namespace orrery
