// models/scheduling/contract/unknown_policy.hpp -- the mistake of naming a policy that is not
// there.
#pragma once

#include <string>

#include "models/scheduling/contract/policy_registry.hpp"
#include "sim/config/diagnostics.hpp"

namespace orrery {

inline std::string no_such_policy(const std::string& name) {
  const std::string hint = did_you_mean(name, PolicyRegistry::instance().names());
  const char* const libraries = "; policies of a library, such as those in Python, need --plugin";
  return "no policy is called '" + name + "'" + (hint.empty() ? libraries : hint);
}

}  // namespace orrery
