// models/network/max_min.hpp -- max-min fair rates of activities that share links.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "sim/core/id.hpp"

namespace orrery {

using ActivityId = Id<struct ActivityTag>;

// An activity of rate r puts weight * r on the link.
struct LinkUse {
  LinkId link;
  double weight = 1;
};

// An allocation is max-min fair if no rate can grow but at the cost of one that is no larger: each
// activity is at its own limit or has a bottleneck, a full link where no other rate is larger.
// Rates, limits and capacities are in one unit of the caller's choice (bits a second).
class MaxMin {
 public:
  static constexpr double kUnlimited = std::numeric_limits<double>::infinity();

  LinkId add_link(double capacity);  // dense, from 0
  void set_capacity(LinkId link, double capacity);
  // Weights must be positive; uses of the same link add up. Ids are dense and used again.
  ActivityId add(std::span<const LinkUse> uses, double rate_max = kUnlimited);
  void set_uses(ActivityId activity, std::span<const LinkUse> uses);
  void set_rate_max(ActivityId activity, double rate_max);
  void remove(ActivityId activity);

  // Rates for what was changed since the last call. Returns the activities with another rate than
  // then, new ones included, in an order that depends on the history of calls alone; the view
  // holds until the next change.
  std::span<const ActivityId> solve();
  bool is_solved() const { return !is_changed_; }

  // As of the last solve(). An activity without a limit and without links has an infinite rate.
  double rate(ActivityId activity) const { return activities_[activity].rate; }
  double load(LinkId link) const;
  double capacity(LinkId link) const { return capacity_[link]; }
  size_t links() const { return capacity_.size(); }

  // What an activity uses, each link once.
  std::span<const LinkUse> uses(ActivityId activity) const { return activities_[activity].uses; }
  // Calls visit(activity, weight) for each activity on the link.
  template <class Visit>
  void for_each_on(LinkId link, const Visit& visit) const {
    for (uint32_t i = 0; i < activities_.size(); ++i) {
      for (const LinkUse& use : activities_[ActivityId{i}].uses) {
        if (use.link == link) visit(ActivityId{i}, use.weight);
      }
    }
  }

 private:
  struct Activity {
    std::vector<LinkUse> uses;
    double rate_max = 0;
    double rate = 0;
    double rate_before = -1;
    bool is_in_use = false;
    bool is_fixed = false;
  };
  IdVector<LinkId, double> capacity_;
  IdVector<ActivityId, Activity> activities_;
  std::vector<ActivityId> free_;
  std::vector<ActivityId> changed_;
  bool is_changed_ = false;
};

}  // namespace orrery
