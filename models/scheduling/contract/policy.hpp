// models/scheduling/contract/policy.hpp -- what every policy is, of pods or of whole jobs.
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
  // What its arguments name and the run had not, such as a team without a job: "weights names ...",
  // each for a warning. Asked of the job queue's policies when the run is over.
  virtual std::vector<std::string> named_in_vain() const { return {}; }
};

}  // namespace orrery
