// models/network/sharing/max_min.hpp -- max-min fair rates of activities that share links.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "models/network/sharing/link_use.hpp"
#include "models/network/sharing/list_pool.hpp"
#include "models/network/sharing/monotone_queue.hpp"
#include "sim/core/id.hpp"

namespace orrery {

using ActivityId = Id<struct ActivityTag>;

// An allocation is max-min fair if any rate can grow only at the cost of an equal or smaller rate.
// Each activity is at its own limit or has a bottleneck: a full link on which no other activity has
// a larger rate. Rates, limits and capacities share one unit (in FlowNetwork: bits a second).
// Example: A and B share a link of capacity 10, B and C share a link of capacity 4. B and C get 2
// each, and A gets 8.
//
// Each link has a level, the largest rate that it allows any activity (infinite while the link is
// not full). So an activity's rate is the least of its limit and the levels of its links. The level
// L of a link of capacity C solves
//     sum over activities on the link of weight * min(L, m) = C
// where m is the least of the activity's limit and the levels of its other links. L depends only on
// those m that are below L. So solve() corrects levels from the lowest upwards. A lowered level is
// final; a raised level may change again. Only links with a new level and their neighbours are
// visited, however large the network. Rounding errors do not accumulate: each level L is computed
// anew from the values m below L, in the order of the link's entries. So the result of solve() does
// not depend on the earlier levels, not even by rounding.
class MaxMin {
 public:
  static constexpr double kUnlimited = std::numeric_limits<double>::infinity();
  struct Use {
    LinkId link;
    uint32_t entry;  // index in the list of the link; internal to MaxMin
    double weight;
  };

  LinkId add_link(double capacity);  // ids are 0, 1, ...
  void set_capacity(LinkId link, double capacity);
  // Weights must be positive; uses of the same link add up. Ids are dense and reused.
  ActivityId add(std::span<const LinkUse> uses, double rate_max = kUnlimited);
  void set_uses(ActivityId activity, std::span<const LinkUse> uses);
  void set_rate_max(ActivityId activity, double rate_max);
  void remove(ActivityId activity);

  // Updates rates for all changes since the last call. Returns the activities whose rate changed,
  // new ones included, in an order that depends only on the history of calls. The returned span is
  // valid until the next call of solve().
  std::span<const ActivityId> solve();
  bool is_solved() const { return pending_.empty() && touched_.empty(); }

  // The rate as of the last solve(); 0 if the activity was added later. Infinite for an activity
  // that has no limit and no links.
  double rate(ActivityId activity) const { return activities_[activity].rate; }
  double load(LinkId link) const;
  double capacity(LinkId link) const { return links_[link].capacity; }
  size_t links() const { return links_.size(); }

  // The links that the activity uses, with its weights. Each link occurs once.
  std::span<const Use> uses(ActivityId activity) const {
    return uses_.items(activities_[activity].uses);
  }
  // Calls visit(activity, weight) for each activity on the link.
  template <class Visit>
  void for_each_on(LinkId link, const Visit& visit) const {
    for (const Entry& entry : entries_.items(links_[link].entries)) {
      visit(entry.activity, entry.weight);
    }
  }

 private:
  // As a value of least_at: no link of the activity has a level below rate_max. As a value of
  // use_of_link_: attach() has seen no use of the link yet.
  static constexpr uint32_t kLimit = UINT32_MAX;
  struct Entry {    // an activity on a link
    double others;  // m: the rate that the activity would get without this link
    double weight;
    ActivityId activity;
    uint32_t use;
  };
  struct alignas(64) Link {
    double capacity = 0;
    ListPool<Entry>::List entries;
    bool is_pending = false;  // changed since the last solve()
    bool is_queued = false;
    bool is_stale = false;  // queued, but `next` may be too low
    uint8_t raised = 0;     // how often its level rose in this solve()
    double key = 0;   // key in the queue: the change to `next` affects no level below this key
    double next = 0;  // its new level, computed from Entry::others
    double weight_above = 0;  // sum of weights of the activities that this link's level limits
    double load_max = 0;      // upper bound of the load of a link that is not full
  };
  struct alignas(64) Activity {
    double least = 0;   // the least of its limit and the levels of its links
    double second = 0;  // the second least: the rate without the bottleneck
    uint32_t least_at = kLimit;
    ListPool<Use>::List uses;
    ListPool<double>::List levels;  // tree of minima, for activities with many uses
    bool is_in_use = false;
    bool is_new = false;
    bool is_touched = false;
    double rate_max = kUnlimited;
    double rate = 0;
  };
  static_assert(sizeof(Activity) == 64);
  Entry& entry_of(const Use& use) { return entries_.at(links_[use.link].entries, use.entry); }
  void attach(ActivityId id, std::span<const LinkUse> uses);
  void detach(ActivityId id);
  void find_least(Activity& activity) const;
  void find_least_of_many(Activity& activity) const;
  void set_leaf(Activity& activity, uint32_t use, double level);
  void update(ActivityId id);
  void tell(const Activity& activity, uint32_t use);
  static double others(const Activity& activity, uint32_t use) {
    return use == activity.least_at ? activity.second : activity.least;
  }
  void touch(ActivityId id);
  void doubt(LinkId id, double weight, double before, double now);
  void make_pending(LinkId id);
  double level_from_others(LinkId id);
  void enqueue(LinkId id, double next);
  void push(LinkId id);
  void settle_next();
  void set_level(LinkId id, double level);

  IdVector<LinkId, Link> links_;
  IdVector<LinkId, double> level_;
  IdVector<ActivityId, Activity> activities_;
  ListPool<Entry> entries_;
  ListPool<Use> uses_;
  ListPool<double> trees_;
  IdVector<LinkId, uint32_t> use_of_link_;  // lets attach() merge uses of the same link
  std::vector<ActivityId> free_;
  std::vector<LinkId> pending_;
  std::vector<LinkId> raised_;
  std::vector<ActivityId> touched_;
  std::vector<ActivityId> changed_;
  MonotoneQueue queue_;
  bool is_solving_ = false;
};

}  // namespace orrery
