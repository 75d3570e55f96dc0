// models/telemetry/storage_usage.hpp -- traffic of stores over time.
#pragma once

#include <array>
#include <vector>

#include "models/storage/storage.hpp"
#include "sim/core/time.hpp"
#include "sim/record/channel.hpp"
#include "sim/record/column.hpp"
#include "sim/runtime/sim.hpp"

namespace orrery {

struct StorageSample {
  Time time;
  FixedText<32> store = {};
  double write_rate = 0, read_rate = 0;

  static void columns(auto&& c) {
    c("time", &StorageSample::time, "end of the interval; rates are means over it");
    c("store", &StorageSample::store, "name of the store; `local`: disks of all nodes together");
    c("write_rate", &StorageSample::write_rate, "rate at which checkpoints were written", "B/s");
    c("read_rate", &StorageSample::read_rate, "rate at which checkpoints and data were read",
      "B/s");
  }
};

class StorageUsage {
 public:
  StorageUsage(Sim sim, const Storage& storage);  // `storage` must outlive this object

  void sample(Time now);  // called at the end of each interval of Timeline

 private:
  const Storage& storage_;
  Time sampled_to_;
  std::vector<std::array<double, 2>> moved_;  // bytes at the last sample, by store and direction
  Channel<StorageSample> samples_;
};

}  // namespace orrery
