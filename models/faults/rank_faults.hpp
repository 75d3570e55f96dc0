// models/faults/rank_faults.hpp -- kills processes of gangs at given times; the nodes stay up.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/faults/rank_fault_params.hpp"
#include "models/workload/job/job_table.hpp"
#include "models/workload/lifecycle/job_controller.hpp"
#include "sim/runtime/sim.hpp"

namespace orrery {

class RankFaults {
 public:
  RankFaults(Sim sim, JobController& controller, const JobTable& jobs,
             std::vector<RankFaultParams> params);
  RankFaults(const RankFaults&) = delete;
  RankFaults& operator=(const RankFaults&) = delete;

  void start();
  uint64_t struck() const { return struck_; }  // gangs that hung because of a fault
  // One sentence for each fault that found no running gang to strike.
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
