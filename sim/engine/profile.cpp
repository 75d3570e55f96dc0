#include "sim/engine/profile.hpp"

#include <map>

namespace orrery {

std::vector<ProfileRow> Profile::rows() const {
  std::map<std::string_view, Cost> merged;  // several libraries may have copies of the same label
  for (const auto& [label, cost] : costs_) {
    Cost& sum = merged[label];
    sum.events += cost.events;
    sum.samples += cost.samples;
    sum.sampled_ns += cost.sampled_ns;
  }
  std::vector<ProfileRow> rows;
  for (const auto& [label, cost] : merged) {
    const auto samples = static_cast<double>(cost.samples > 0 ? cost.samples : 1);
    const double scale = static_cast<double>(cost.events) / samples;
    rows.push_back(
        {label, cost.events, static_cast<int64_t>(static_cast<double>(cost.sampled_ns) * scale)});
  }
  return rows;
}

}  // namespace orrery
