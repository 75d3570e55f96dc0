// models/scenario/scenario_jobs.hpp -- the jobs listed in a scenario, for sections that refer to
// jobs by name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/workload/workload_params.hpp"
#include "sim/config/fields.hpp"

namespace orrery {

class ScenarioJobs {
 public:
  explicit ScenarioJobs(const WorkloadParams& params);

  // True if the scenario lists all jobs. Jobs of generators and traces are known only at their
  // arrival.
  bool are_all() const { return are_all_; }
  std::vector<const ExplicitJobParams*> called(std::string_view name) const;
  // True if a job of this name may exist. Otherwise reports a mistake at `field`.
  bool check_name(std::string_view name, std::string_view field, Checker& c) const;

 private:
  struct Entry {
    const ExplicitJobParams* job;
    int64_t first_id;  // number of the entry's first job; a job without a name is called job-NUMBER
  };
  static bool is_called(const Entry& entry, std::string_view name);

  std::vector<Entry> entries_;
  bool are_all_ = true;
};

}  // namespace orrery
