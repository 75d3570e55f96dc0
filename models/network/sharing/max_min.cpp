#include "models/network/sharing/max_min.hpp"

#include <algorithm>
#include <bit>

#include "sim/core/check.hpp"

namespace orrery {
namespace {

constexpr uint32_t kFewUses = 32;  // lists this short are searched linearly

}  // namespace

LinkId MaxMin::add_link(double capacity) {
  ORRERY_CHECK(capacity >= 0 && capacity < kUnlimited, "a capacity is a number, not negative");
  level_.push_back(kUnlimited);
  use_of_link_.push_back(kLimit);
  const LinkId id{static_cast<uint32_t>(links_.size())};
  links_.resize(links_.size() + 1);
  links_[id].capacity = capacity;
  return id;
}

void MaxMin::set_capacity(LinkId link, double capacity) {
  ORRERY_CHECK(capacity >= 0 && capacity < kUnlimited, "a capacity is a number, not negative");
  if (links_[link].capacity == capacity) return;
  links_[link].capacity = capacity;
  make_pending(link);
}

ActivityId MaxMin::add(std::span<const LinkUse> uses, double rate_max) {
  ORRERY_CHECK(rate_max >= 0, "a limit is not negative");
  ActivityId id;
  if (free_.empty()) {
    id = {static_cast<uint32_t>(activities_.size())};
    activities_.resize(activities_.size() + 1);
  } else {
    id = free_.back();
    free_.pop_back();
  }
  Activity& activity = activities_[id];
  activity.rate_max = rate_max;
  activity.rate = 0;
  activity.is_in_use = activity.is_new = true;
  attach(id, uses);
  return id;
}

void MaxMin::remove(ActivityId activity) {
  ORRERY_CHECK(activities_[activity].is_in_use, "an activity ends once");
  detach(activity);
  activities_[activity].is_in_use = false;
  free_.push_back(activity);
}

void MaxMin::set_uses(ActivityId activity, std::span<const LinkUse> uses) {
  ORRERY_CHECK(activities_[activity].is_in_use, "what has ended uses nothing");
  detach(activity);
  attach(activity, uses);
}

void MaxMin::set_rate_max(ActivityId activity, double rate_max) {
  ORRERY_CHECK(activities_[activity].is_in_use, "what has ended has no limit");
  ORRERY_CHECK(rate_max >= 0, "a limit is not negative");
  activities_[activity].rate_max = rate_max;
  update(activity);
}

double MaxMin::load(LinkId link) const {
  double sum = 0;
  for_each_on(link, [&](ActivityId activity, double weight) { sum += weight * rate(activity); });
  return sum;
}

void MaxMin::attach(ActivityId id, std::span<const LinkUse> uses) {
  Activity& activity = activities_[id];
  for (const LinkUse& use : uses) {
    ORRERY_CHECK(use.link.index < links_.size(), "an activity uses links that exist");
    ORRERY_CHECK(use.weight > 0 && use.weight < kUnlimited, "a weight is a positive number");
    uint32_t& known = use_of_link_[use.link];
    if (known == kLimit) {
      known = activity.uses.size;
      uses_.push_back(activity.uses, {.link = use.link, .entry = 0, .weight = use.weight});
    } else {
      uses_.at(activity.uses, known).weight += use.weight;
    }
  }
  const std::span<Use> mine = uses_.items(activity.uses);
  for (uint32_t u = 0; u < mine.size(); ++u) {
    const LinkId link_id = mine[u].link;
    use_of_link_[link_id] = kLimit;
    Link& link = links_[link_id];
    mine[u].entry = link.entries.size;
    entries_.push_back(link.entries,
                       {.others = 0, .weight = mine[u].weight, .activity = id, .use = u});
    if (link.entries.size == 1) {
      level_[link_id] = level_from_others(link_id);
    } else {
      make_pending(link_id);
    }
  }
  if (mine.size() > kFewUses) {
    const auto leaves = static_cast<uint32_t>(std::bit_ceil(mine.size()));
    trees_.resize(activity.levels, 2 * leaves, kUnlimited);
    const std::span<double> tree = trees_.items(activity.levels);
    for (size_t u = 0; u < mine.size(); ++u) tree[leaves + u] = level_[mine[u].link];
    for (uint32_t i = leaves; i-- > 1;) tree[i] = std::min(tree[2 * i], tree[2 * i + 1]);
  }
  find_least(activity);
  for (uint32_t u = 0; u < mine.size(); ++u) entry_of(mine[u]).others = others(activity, u);
  touch(id);
}

void MaxMin::detach(ActivityId id) {
  Activity& activity = activities_[id];
  for (const Use& use : uses_.items(activity.uses)) {
    Link& link = links_[use.link];
    const Entry& last = entries_.at(link.entries, link.entries.size - 1);
    uses_.at(activities_[last.activity].uses, last.use).entry = use.entry;
    entry_of(use) = last;
    if (--link.entries.size == 0) {
      level_[use.link] = kUnlimited;
    } else {
      make_pending(use.link);
    }
  }
  uses_.free(activity.uses);
  trees_.free(activity.levels);
}

// Finds the two smallest values among the activity's limit and the levels of its links. The
// smallest is the activity's rate.
void MaxMin::find_least(Activity& activity) const {
  if (activity.levels.size > 0) return find_least_of_many(activity);
  double least = activity.rate_max, second = kUnlimited;
  uint32_t least_at = kLimit, u = 0;
  for (const Use& use : uses_.items(activity.uses)) {
    const double level = level_[use.link];
    if (level < least) {
      second = least;
      least = level;
      least_at = u;
    } else if (level < second) {
      second = level;
    }
    ++u;
  }
  activity.least = least;
  activity.second = second;
  activity.least_at = least_at;
}

void MaxMin::find_least_of_many(Activity& activity) const {
  const std::span<const double> tree = trees_.items(activity.levels);
  activity.least = activity.rate_max;
  activity.second = tree[1];
  activity.least_at = kLimit;
  if (tree[1] >= activity.rate_max) return;
  activity.least = tree[1];
  activity.second = activity.rate_max;
  size_t i = 1;
  while (2 * i < tree.size()) {
    i *= 2;
    if (tree[i] > tree[i + 1]) ++i;
    activity.second = std::min(activity.second, tree[i ^ 1]);
  }
  activity.least_at = static_cast<uint32_t>(i - tree.size() / 2);
}

void MaxMin::set_leaf(Activity& activity, uint32_t use, double level) {
  const std::span<double> tree = trees_.items(activity.levels);
  size_t i = tree.size() / 2 + use;
  tree[i] = level;
  for (i /= 2; i > 0; i /= 2) {
    const double least = std::min(tree[2 * i], tree[2 * i + 1]);
    if (tree[i] == least) return;
    tree[i] = least;
  }
}

void MaxMin::touch(ActivityId id) {
  Activity& activity = activities_[id];
  if (activity.is_touched) return;
  activity.is_touched = true;
  touched_.push_back(id);
}

void MaxMin::make_pending(LinkId id) {
  Link& link = links_[id];
  if (link.is_pending) return;
  link.is_pending = true;
  pending_.push_back(id);
}

}  // namespace orrery
