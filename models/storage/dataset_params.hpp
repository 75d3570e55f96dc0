// models/storage/dataset_params.hpp -- datasets read during training, as a scenario describes them.
#pragma once

#include <string>
#include <string_view>

#include "sim/config/options.hpp"
#include "sim/core/time.hpp"

namespace orrery {

struct DatasetParams {
  static constexpr std::string_view kDoc =
      "Data that ranks read while they compute. The next step's data are read during the present "
      "step, so a step takes at least as long as its reading.";

  std::string store = {};
  Bytes per_step = {};
  Bytes size = {};
  bool cache = false;

  template <class V>
  void fields(V& v) {
    v("store", store,
      "Name of a store in storage.stores, or `local` for the disks of the job's nodes.", Required{},
      Example{"blob"});
    v("per_step", per_step, "How much each GPU reads for a step.", Required{},
      Range{Bytes{}, 256_GiB}, Example{"50MB"});
    v("size", size,
      "Size of the whole dataset, which is read once in each epoch. Required if cache is true.",
      Heeded{cache, "cache is false"});
    v("cache", cache,
      "true: after each start, the first epoch is read from the store and kept on the disks of the "
      "job's nodes. Later epochs are read from these disks.",
      Heeded{store != "local", "the store is local (its data are on the nodes' disks already)"});
  }
  template <class C>
  void check(C& c) const {
    if (per_step <= Bytes{}) c.error("per_step", "must be more than 0");
    if (cache && size <= Bytes{}) {
      c.error("cache", "needs size, to know when the first epoch is over");
    }
  }
};

}  // namespace orrery
