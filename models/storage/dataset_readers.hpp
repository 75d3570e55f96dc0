// models/storage/dataset_readers.hpp -- how long gangs that read their data wait for a
// store.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/storage/dataset_params.hpp"
#include "models/storage/storage.hpp"
#include "sim/core/id.hpp"
#include "sim/core/time.hpp"
#include "sim/engine/engine.hpp"
#include "sim/engine/signal.hpp"

namespace orrery {

// Each gang is one reader that never ends and asks for what its steps need when nothing slows them
// down. With a cache its store is the disks of its own nodes once an epoch is over.
class DatasetReaders {
 public:
  DatasetReaders(Engine& engine, Storage& storage);
  DatasetReaders(const DatasetReaders&) = delete;
  DatasetReaders& operator=(const DatasetReaders&) = delete;

  // `gpus` GPUs on these nodes read for steps that take no less than `step` for other reasons.
  void begin(JobId job, const DatasetParams& params, std::span<const NodeId> nodes, int32_t gpus,
             Duration step);
  void end(JobId job);
  // Of a gang with or without data: how fast its steps go on, or that one is over.
  void set_step_rate(JobId job, double steps_per_s);
  void step_done(JobId job);

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
    double steps_left = 0;  // of the epoch, as of `since`; 0: nothing comes after it
    double steps_per_s = 0;
    Time since{};
    EventId epoch_over{};
  };
  Reader* find(JobId job);
  void open(JobId job, StoreId store);
  void use_cache(JobId job);
  void rate_changed(FlowId flow);

  Engine& engine_;
  Storage& storage_;
  std::vector<Reader> readers_;     // by job
  std::vector<JobId> job_of_flow_;  // by index of the flow
};

}  // namespace orrery
