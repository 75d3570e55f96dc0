#include "models/network/max_min.hpp"

#include <algorithm>

#include "sim/core/check.hpp"

namespace orrery {

LinkId MaxMin::add_link(double capacity) {
  ORRERY_CHECK(capacity >= 0 && capacity < kUnlimited, "a capacity is a number, not negative");
  return capacity_.push_back(capacity);
}

void MaxMin::set_capacity(LinkId link, double capacity) {
  ORRERY_CHECK(capacity >= 0 && capacity < kUnlimited, "a capacity is a number, not negative");
  capacity_[link] = capacity;
  is_changed_ = true;
}

ActivityId MaxMin::add(std::span<const LinkUse> uses, double rate_max) {
  ActivityId id;
  if (free_.empty()) {
    id = activities_.push_back({});
  } else {
    id = free_.back();
    free_.pop_back();
  }
  activities_[id] = {};
  activities_[id].is_in_use = true;
  set_uses(id, uses);
  set_rate_max(id, rate_max);
  return id;
}

void MaxMin::set_uses(ActivityId activity, std::span<const LinkUse> uses) {
  std::vector<LinkUse>& mine = activities_[activity].uses;
  mine.clear();
  for (const LinkUse& use : uses) {
    ORRERY_CHECK(use.link.index < capacity_.size(), "the link exists");
    ORRERY_CHECK(use.weight > 0 && use.weight < kUnlimited, "a weight is a positive number");
    const auto same = std::ranges::find(mine, use.link, &LinkUse::link);
    if (same == mine.end()) {
      mine.push_back(use);
    } else {
      same->weight += use.weight;
    }
  }
  is_changed_ = true;
}

void MaxMin::set_rate_max(ActivityId activity, double rate_max) {
  ORRERY_CHECK(rate_max >= 0, "a limit is not negative");
  activities_[activity].rate_max = rate_max;
  is_changed_ = true;
}

void MaxMin::remove(ActivityId activity) {
  ORRERY_CHECK(activities_[activity].is_in_use, "an activity ends once");
  activities_[activity] = {};
  free_.push_back(activity);
  is_changed_ = true;
}

std::span<const ActivityId> MaxMin::solve() {
  changed_.clear();
  if (!is_changed_) return changed_;
  is_changed_ = false;
  IdVector<LinkId, double> rest = capacity_, weight(capacity_.size());
  for (Activity& activity : activities_) {
    activity.is_fixed = !activity.is_in_use;
    for (const LinkUse& use : activity.uses) weight[use.link] += use.weight;
  }
  for (;;) {
    double level = kUnlimited;
    const auto limit = [&](const Activity& activity) {
      double least = activity.rate_max;
      for (const LinkUse& use : activity.uses) {
        least = std::min(least, std::max(0.0, rest[use.link] / weight[use.link]));
      }
      return least;
    };
    bool is_any = false;
    for (const Activity& activity : activities_) {
      if (activity.is_fixed) continue;
      is_any = true;
      level = std::min(level, limit(activity));
    }
    if (!is_any) break;
    for (Activity& activity : activities_) {
      if (activity.is_fixed || limit(activity) > level) continue;
      activity.is_fixed = true;
      activity.rate = level;
      for (const LinkUse& use : activity.uses) {
        rest[use.link] -= level * use.weight;
        weight[use.link] -= use.weight;
      }
    }
  }
  for (uint32_t i = 0; i < activities_.size(); ++i) {
    Activity& activity = activities_[ActivityId{i}];
    if (activity.is_in_use && activity.rate != activity.rate_before) changed_.push_back({i});
    activity.rate_before = activity.rate;
  }
  return changed_;
}

double MaxMin::load(LinkId link) const {
  double sum = 0;
  for_each_on(link, [&](ActivityId activity, double weight) { sum += weight * rate(activity); });
  return sum;
}

}  // namespace orrery
