// models/scenario/scenario_jobs.hpp -- the jobs that a scenario lists, for sections that name some
// of them.
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

  // No source makes others, whose names are known only as they arrive.
  bool are_all() const { return are_all_; }
  std::vector<const ExplicitJobParams*> called(std::string_view name) const;
  // Whether there may be such a job; tells of `field` if not.
  bool check_name(std::string_view name, std::string_view field, Checker& c) const;

 private:
  struct Entry {
    const ExplicitJobParams* job;
    int64_t first_id;  // of as many as `count` says, which number those without a name
  };
  static bool is_called(const Entry& entry, std::string_view name);

  std::vector<Entry> entries_;
  bool are_all_ = true;
};

}  // namespace orrery
