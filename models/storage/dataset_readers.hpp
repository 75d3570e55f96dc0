// models/storage/dataset_readers.hpp -- delays of training steps by reading data from a store.
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

// Each gang is one endless reader that requests the rate of its undelayed steps. With a cache it
// reads from the disks of its own nodes after the first epoch. Example: steps of 1 s that read 2 GB
// each from a store which gives 1 GB/s take 2 s.
class DatasetReaders {
 public:
  DatasetReaders(Engine& engine, Storage& storage);
  DatasetReaders(const DatasetReaders&) = delete;
  DatasetReaders& operator=(const DatasetReaders&) = delete;

  // Starts the reader of a gang with `gpus` GPUs on these nodes, whose steps take at least `step`
  // without reading.
  void begin(JobId job, const DatasetParams& params, std::span<const NodeId> nodes, int32_t gpus,
             Duration step);
  void end(JobId job);
  // Sets the present step rate; 0: the gang stopped. Has no effect on a gang that does not read.
  void set_step_rate(JobId job, double steps_per_s);
  void step_done(JobId job);

  // Present duration of reading for one step. Max: no data arrive. 0: the reader keeps up, or
  // there is none.
  Duration step_time(JobId job) const {
    return job.index < readers_.size() ? readers_[job.index].step_time : Duration{};
  }
  Signal<JobId> changed;  // step_time() of a reader

 private:
  struct Reader {
    FlowId flow{};
    std::vector<NodeId> nodes{};
    Bytes each{};  // for one node and one step
    double rate_max = 0;
    Duration step_time{};
    double steps_left = 0;  // steps left in the epoch at `since`; 0: no later epoch
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
