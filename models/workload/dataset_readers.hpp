// models/workload/dataset_readers.hpp -- gangs that read data as they train.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/storage/storage.hpp"
#include "models/workload/dataset_params.hpp"
#include "sim/core/id.hpp"
#include "sim/core/time.hpp"
#include "sim/engine/signal.hpp"

namespace orrery {

// Each gang is one reader that never ends and asks for no more than its steps need.
class DatasetReaders {
 public:
  explicit DatasetReaders(Storage& storage);
  DatasetReaders(const DatasetReaders&) = delete;
  DatasetReaders& operator=(const DatasetReaders&) = delete;

  // `gpus` GPUs on these nodes read for a step that takes no less than `step` for other reasons.
  void begin(JobId job, const DatasetParams& params, std::span<const NodeId> nodes, int32_t gpus,
             Duration step);
  void end(JobId job);
  void use_cache(JobId job);  // an epoch is over

  // How long reading for a step takes at present; max: for ever. 0 without a reader.
  Duration step_time(JobId job) const {
    return job.index < readers_.size() ? readers_[job.index].step_time : Duration{};
  }
  Signal<JobId> changed;  // the step_time of a reader

 private:
  struct Reader {
    FlowId flow{};
    std::vector<NodeId> nodes{};
    Bytes each{};  // of a node, for a step
    double rate_max = 0;
    Duration step_time{};
  };
  void open(JobId job, StoreId store);
  void rate_changed(FlowId flow);

  Storage& storage_;
  std::vector<Reader> readers_;     // by job
  std::vector<JobId> job_of_flow_;  // by index of the flow
};

}  // namespace orrery
