// models/scheduling/contract/policy.hpp -- the base classes of policies and of extension points.
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
  // Warnings about names in the policy's arguments that did not occur in the run, such as a team
  // that has a weight but no jobs. Called after the run, for controllers and policies of
  // the job queue.
  virtual std::vector<std::string> named_in_vain() const { return {}; }
};

}  // namespace orrery
