// models/faults/rank_faults.hpp -- processes of jobs that die at given times while their nodes stay
// up.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/workload/job/job_table.hpp"
#include "models/workload/lifecycle/job_controller.hpp"
#include "sim/config/options.hpp"
#include "sim/core/time.hpp"
#include "sim/runtime/sim.hpp"

namespace orrery {

struct RankFaultParams {
  static constexpr std::string_view kDoc =
      "A process of a gang that dies while its node is up. The other ranks wait for it, at 100 % "
      "reported utilisation, until workload.controller.hang_timeout.";

  std::string job = {};
  int32_t pod = 0;
  int32_t gpus = 1;
  Duration at = {};

  template <class V>
  void fields(V& v) {
    v("job", job, "Name of the job; the first of that name that runs then.", Required{},
      Example{"train"});
    v("pod", pod, "Which pod of it, from 0.", Range{0, 100'000'000});
    v("gpus", gpus, "GPUs that the process used, and that idle from then on.", Range{1, 16},
      Unit{"GPU"}, Source{"one process a GPU, as torchrun starts them"});
    v("at", at, "When, from the start of the run.", Required{}, IsInstant{});
  }
};

class RankFaults {
 public:
  RankFaults(Sim sim, JobController& controller, const JobTable& jobs,
             std::vector<RankFaultParams> params);
  RankFaults(const RankFaults&) = delete;
  RankFaults& operator=(const RankFaults&) = delete;

  void start();
  uint64_t struck() const { return struck_; }  // gangs that hung because of a fault
  // About faults without a target; one sentence each.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  void strike(size_t index);

  Sim sim_;
  JobController& controller_;
  const JobTable& jobs_;
  std::vector<RankFaultParams> params_;
  std::vector<std::string> notes_;
  uint64_t struck_ = 0;
};

}  // namespace orrery
