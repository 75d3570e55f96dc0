// models/faults/rank_fault_params.hpp -- deaths of gangs' processes at given times.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/config/options.hpp"
#include "sim/core/time.hpp"

namespace orrery {

struct RankFaultParams {
  static constexpr std::string_view kDoc =
      "A process of a gang that dies while its node is up. The other ranks wait for it, at 100 % "
      "reported utilisation, until workload.controller.hang_timeout has passed.";

  std::string job = {};
  int32_t pod = 0;
  int32_t gpus = 1;
  Duration at = {};

  template <class V>
  void fields(V& v) {
    v("job", job,
      "Name of the job. If several jobs of this name run at time `at`, one of them is struck.",
      Required{}, Example{"train"});
    v("pod", pod, "Number of the pod in the job, from 0.", Range{0, 100'000'000});
    v("gpus", gpus, "GPUs of the process. They are idle after its death.", Range{1, 16},
      Unit{"GPU"}, Source{"torchrun usually starts one process per GPU"});
    v("at", at, "Time of the death, from the start of the run.", Required{}, IsInstant{});
  }
};

}  // namespace orrery
