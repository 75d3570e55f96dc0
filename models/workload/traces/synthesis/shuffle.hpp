// models/workload/traces/synthesis/shuffle.hpp -- jobs of a trace in random order, repeated or left
// out to reach a given load.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "models/workload/traces/trace_reader.hpp"
#include "sim/config/options.hpp"
#include "sim/core/rng.hpp"

namespace orrery {

struct ShuffleParams {
  static constexpr std::string_view kDoc =
      "Jobs arrive in random order and at even intervals, whatever their recorded times.";

  Duration interval = 1_s;
  std::optional<double> load = {};

  template <class V>
  void fields(V& v) {
    v("interval", interval,
      "Time between two arrivals; the first job arrives at the start of the run.",
      Range{1_ns, Duration::max()});
    v("load", load,
      "GPUs that all jobs request together, as a multiple of the cluster's GPUs. To reach this "
      "number, jobs are left out at random, or random jobs arrive again after all jobs have "
      "arrived. Absent: each job arrives once.",
      Range{0.001, 1000.0}, Example{"1.3"});
  }
};

// The reader holds the whole trace, 280 bytes a job. `gpu_milli_total` is the number of milli-GPUs
// of the cluster.
std::unique_ptr<TraceReader> shuffled(std::unique_ptr<TraceReader> reader,
                                      const ShuffleParams& params, Rng rng,
                                      int64_t gpu_milli_total);

}  // namespace orrery
