// models/scheduling/toolbox/named_in_vain.hpp -- warnings about teams, users and applications
// that a policy's arguments name, but that had no job in the run.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

// Returns a warning for each name in `named` for which `has(name)` is false. `has(name)` tells
// whether a job of this team, user or application arrived. `parameter` is the policy's argument
// that lists the names. `owner` says what the names are: "team", "user" or "application".
template <class Value, class Has>
std::vector<std::string> named_in_vain(std::string_view parameter, std::string_view owner,
                                       const std::map<std::string, Value>& named, Has&& has) {
  std::vector<std::string> messages;
  for (const auto& [name, value] : named) {
    if (has(name)) continue;
    messages.push_back(std::string{parameter} + " names " + std::string{owner} + " '" + name +
                       "', of which no job came");
  }
  return messages;
}

}  // namespace orrery
