// The solver of MaxMin: corrects the levels of links, the lowest level first.
#include <algorithm>

#include "models/network/sharing/max_min.hpp"
#include "sim/core/check.hpp"

namespace orrery {
namespace {

// For a link with at most this many activities, doubt() computes the new level, because this costs
// less than queueing a bound of the level.
constexpr uint32_t kFewEntries = 8;
constexpr uint8_t kRaises = 2;  // rises of a link in one solve() before it is deferred

}  // namespace

std::span<const ActivityId> MaxMin::solve() {
  // Links with at most one activity come first, because their levels depend on no other link.
  // set_level() may append links to pending_.
  for (size_t i = 0; i < pending_.size(); ++i) {
    const LinkId id = pending_[i];
    if (links_[id].entries.size > 1) continue;
    const double next = level_from_others(id);
    if (next != level_[id]) set_level(id, next);
  }
  is_solving_ = true;
  queue_.restart();
  for (const LinkId id : pending_) {
    links_[id].is_pending = false;
    const double next = level_from_others(id);
    if (next != level_[id]) enqueue(id, next);
  }
  pending_.clear();
  while (!queue_.empty()) settle_next();
  is_solving_ = false;
  for (const LinkId id : raised_) links_[id].raised = 0;
  raised_.clear();

  changed_.clear();
  for (const ActivityId id : touched_) {
    Activity& activity = activities_[id];
    activity.is_touched = false;
    if (!activity.is_in_use || (!activity.is_new && activity.rate == activity.least)) continue;
    activity.is_new = false;
    activity.rate = activity.least;
    changed_.push_back(id);
  }
  touched_.clear();
  return changed_;
}

// Computes the level of a link from the m of its activities (see MaxMin). The first estimate gives
// all activities equal rates. In each round, activities whose m is below the estimate get their m.
// The other activities share the rest of the capacity equally; their rate is the next estimate.
// Example with weights of 1: capacity 9 and m = 1, 3.5 and infinity give 9 / 3 = 3, (9 - 1) / 2 = 4
// and 9 - 1 - 3.5 = 4.5. No further m is below 4.5, so the level is 4.5. An m above the level
// enters no sum, and the sums run in the order of the entries. So the exact value of such an m does
// not change the level, not even by rounding.
double MaxMin::level_from_others(LinkId id) {
  Link& link = links_[id];
  const std::span<const Entry> entries = entries_.items(link.entries);
  if (entries.size() <= 1) {
    return entries.empty() ? kUnlimited : link.capacity / entries[0].weight;
  }
  double weight = 0;
  for (const Entry& entry : entries) weight += entry.weight;
  double level = link.capacity / weight;
  for (size_t above_before = entries.size();;) {
    double below = 0, weight_above = 0;
    size_t above = 0;
    for (const Entry& entry : entries) {
      const bool is_below = entry.others < level;
      below += is_below ? entry.weight * entry.others : 0;
      weight_above += is_below ? 0 : entry.weight;
      above += is_below ? 0 : 1;
    }
    if (above == 0) {
      link.load_max = below;
      return kUnlimited;
    }
    link.weight_above = weight_above;
    if (above == above_before) return level;
    above_before = above;
    level = std::max(level, (link.capacity - below) / weight_above);
  }
}

void MaxMin::enqueue(LinkId id, double next) {
  Link& link = links_[id];
  link.is_queued = true;
  link.is_stale = false;
  link.next = next;
  push(id);
}

void MaxMin::push(LinkId id) {
  Link& link = links_[id];
  // The queue accepts no key below the last key taken. But the true level of a link may be below
  // this last key: doubt() queues links with lower bounds of their levels as keys, and rounding can
  // make such a bound slightly too high.
  link.key = std::max(std::min(level_[id], link.next), queue_.last_key());
  queue_.push(link.key, id.index);
}

// Called when m (see MaxMin) has changed from `before` to `now` for an activity that has this
// weight on the link. If this may change the link's level, queues the link with the new level, or
// with a lower bound of the new level if the link has many activities.
void MaxMin::doubt(LinkId id, double weight, double before, double now) {
  if (!is_solving_) return make_pending(id);
  Link& link = links_[id];
  const double from = std::min(now, before);
  if (!link.is_queued) {
    if (level_[id] <= from) return;
    if (link.entries.size <= kFewEntries) {
      const double next = level_from_others(id);
      if (next != level_[id]) enqueue(id, next);
      return;
    }
    link.is_queued = true;
    link.next = level_[id];
    link.key = kUnlimited;
  }
  link.is_stale = true;
  // `before` and `now` are the old and the new m (see MaxMin) of one activity. If m falls, the
  // level can only rise. If m rises, this activity takes at most weight * (now - before) more
  // capacity, at the expense of the activities above the level.
  if (now > before && link.next > from) {
    const double rounding = 1e-15 * link.capacity * link.entries.size;
    const double drop = (weight * (now - before) + rounding) / link.weight_above;
    link.next = link.next < kUnlimited ? std::max(from, link.next - drop) : from;
  }
  if (std::min(level_[id], link.next) < link.key) push(id);
}

void MaxMin::settle_next() {
  const MonotoneQueue::Item item = queue_.pop();
  const LinkId id{item.value};
  Link& link = links_[id];
  if (!link.is_queued || link.key != item.key) return;  // an outdated item of the queue
  if (link.is_stale) {
    link.is_stale = link.is_queued = false;
    const double next = level_from_others(id);
    if (next == level_[id]) return;
    if (std::min(next, level_[id]) > item.key) return enqueue(id, next);
    link.next = next;
  }
  link.is_queued = false;
  const double next = link.next;
  if (next > level_[id]) {
    if (link.raised == 0) raised_.push_back(id);
    // A raised level may change again, so links could raise each other's levels in many small
    // steps. To avoid this, a link whose level has risen more than kRaises times is deferred until
    // all lower levels are settled.
    if (++link.raised > kRaises) {
      ORRERY_MARK("max_min.out_of_the_way");
      link.raised = kRaises;
      set_level(id, kUnlimited);
      if (next < kUnlimited) enqueue(id, next);
      return;
    }
  }
  set_level(id, next);
}

void MaxMin::set_level(LinkId id, double level) {
  const double before = level_[id];
  level_[id] = level;
  for (const Entry& entry : entries_.items(links_[id].entries)) {
    Activity& activity = activities_[entry.activity];
    if (activity.levels.size > 0) {
      set_leaf(activity, entry.use, level);
    } else if (before > activity.second && level >= activity.second) {
      continue;
    }
    update(entry.activity);
  }
}

// Called when the activity's limit or the level of one of its links has changed. Updates
// Entry::others on the activity's links.
void MaxMin::update(ActivityId id) {
  Activity& activity = activities_[id];
  const double least = activity.least;
  const uint32_t least_at = activity.least_at;
  find_least(activity);
  if (activity.least != least) {
    touch(id);
    for (uint32_t u = 0; u < activity.uses.size; ++u) tell(activity, u);
  } else {
    if (least_at != kLimit) tell(activity, least_at);
    if (activity.least_at != kLimit) tell(activity, activity.least_at);
  }
}

void MaxMin::tell(const Activity& activity, uint32_t use) {
  const Use& place = uses_.at(activity.uses, use);
  Entry& entry = entry_of(place);
  const double now = others(activity, use);
  const double before = entry.others;
  if (now == before) return;
  entry.others = now;
  Link& link = links_[place.link];
  if (link.entries.size == 1) return;  // its level is capacity / weight, whatever m is
  if (level_[place.link] == kUnlimited && !link.is_queued) {
    // Most links stay far from full, so their levels need no check. load_max stays an upper bound
    // of the load, because each update adds more than the rounding error.
    if (before < kUnlimited) link.load_max += entry.weight * (now - before);
    link.load_max += 1e-15 * link.capacity;
    if (before < kUnlimited && link.load_max < link.capacity * (1 - 1e-9)) return;
  }
  doubt(place.link, entry.weight, before, now);
}

}  // namespace orrery
