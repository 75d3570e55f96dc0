// tests/support/plain_max_min.hpp -- max-min fair rates by plain progressive filling.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

#include "models/network/sharing/max_min.hpp"

namespace orrery::test {

struct PlainActivity {
  std::vector<LinkUse> uses;
  double rate_max = MaxMin::kUnlimited;
  long double rate = 0;
  bool is_fixed = false;
};
using PlainActivities = std::map<uint32_t, PlainActivity>;  // the key is the activity's id

// Progressive filling: all rates grow equally. The rate of an activity stops growing at its limit,
// or when one of its links is full.
inline void fill(const std::vector<double>& capacity, PlainActivities& activities) {
  std::vector<long double> rest(capacity.begin(), capacity.end());
  for (auto& [id, activity] : activities) activity.is_fixed = false;
  for (size_t fixed = 0; fixed < activities.size();) {
    std::vector<long double> weight(capacity.size());
    for (const auto& [id, activity] : activities) {
      if (activity.is_fixed) continue;
      for (const LinkUse& use : activity.uses) weight[use.link.index] += use.weight;
    }
    const auto limit_of = [&](const PlainActivity& activity) {
      long double limit = activity.rate_max;
      for (const LinkUse& use : activity.uses) {
        limit = std::min(limit, std::max(0.0L, rest[use.link.index] / weight[use.link.index]));
      }
      return limit;
    };
    long double level = HUGE_VALL;
    for (const auto& [id, activity] : activities) {
      if (!activity.is_fixed) level = std::min(level, limit_of(activity));
    }
    std::vector<PlainActivity*> stopped;
    for (auto& [id, activity] : activities) {
      if (!activity.is_fixed && limit_of(activity) <= level * (1 + 1e-15L)) {
        stopped.push_back(&activity);
      }
    }
    for (PlainActivity* const activity : stopped) {
      activity->is_fixed = true;
      activity->rate = level;
      ++fixed;
      for (const LinkUse& use : activity->uses) rest[use.link.index] -= use.weight * level;
    }
  }
}

}  // namespace orrery::test
