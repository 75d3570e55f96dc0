// models/storage/dataset_readers.hpp -- delays of training steps that read data from a store.
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

// A gang reads by one endless transfer. The rate of the transfer is at most what the gang's steps
// consume when they never wait for data. Example: a step of 1 s reads 2 GB, so the rate is at most
// 2 GB/s. If the store gives 1 GB/s, the step takes 2 s. With a cache, the gang reads from the
// disks of its own nodes after the first epoch.
class DatasetReaders {
 public:
  DatasetReaders(Engine& engine, Storage& storage);
  DatasetReaders(const DatasetReaders&) = delete;
  DatasetReaders& operator=(const DatasetReaders&) = delete;

  // Starts the reader of a gang with `gpus` GPUs on these nodes. `step` is the duration of
  // a step that never waits for data and exchanges at the gang's full rate.
  void begin(JobId job, const DatasetParams& params, std::span<const NodeId> nodes, int32_t gpus,
             Duration step);
  void end(JobId job);
  // Sets the present step rate, 0 if the gang stopped. With a cache, the rate decides when the
  // first epoch ends. Without a cache, the rate has no effect.
  void set_step_rate(JobId job, double steps_per_s);
  void step_done(JobId job);

  // Time in which the data of one step arrive, at the present rate of the transfer. Duration::max()
  // if no data arrive; 0 if the transfer keeps up with the steps, or if the job reads no data.
  Duration step_time(JobId job) const {
    return job.index < readers_.size() ? readers_[job.index].step_time : Duration{};
  }
  Signal<JobId> changed;  // the job's step_time() changed

 private:
  struct Reader {
    FlowId flow{};
    std::vector<NodeId> nodes{};
    Bytes each{};  // bytes that one node reads for one step
    double rate_max = 0;
    Duration step_time{};
    // Number of steps left in the first epoch. With `steps: traced`, each step lowers it.
    // Otherwise it is the number at `since`. 0 without a cache or after the first epoch.
    double steps_left = 0;
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
