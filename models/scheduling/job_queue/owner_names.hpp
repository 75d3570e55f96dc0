// models/scheduling/job_queue/owner_names.hpp -- numbers for the names of users, teams and
// applications.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace orrery {

// Names are numbered 0, 1, 2, ... in the order of their first job.
class OwnerNames {
 public:
  uint32_t number(const std::string& name) {
    const auto [found, is_new] = numbers_.try_emplace(name, static_cast<uint32_t>(names_.size()));
    if (is_new) names_.push_back(name);
    return found->second;
  }
  std::string_view name(uint32_t number) const { return names_[number]; }
  bool has(const std::string& name) const { return numbers_.contains(name); }

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, uint32_t> numbers_;  // for lookup only, never iterated
};

}  // namespace orrery
