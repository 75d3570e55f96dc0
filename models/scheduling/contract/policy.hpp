// models/scheduling/contract/policy.hpp -- the base of all policies, of pods and of whole jobs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/scheduling/contract/status.hpp"

namespace orrery {

struct PointName {
  std::string_view name, doc;
};

struct ORRERY_API Point {  // base of every extension point
  virtual ~Point() = default;
};

class ORRERY_API Policy {
 public:
  virtual ~Policy() = default;
  // Names in its arguments that did not occur in the run, such as a team without a job: "weights
  // names ...", each for a warning. Called for policies of the job queue after the run.
  virtual std::vector<std::string> named_in_vain() const { return {}; }
};

}  // namespace orrery
