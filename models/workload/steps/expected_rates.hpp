// models/workload/steps/expected_rates.hpp -- mean exchange rates of many gangs that share links.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "models/network/sharing/link_use.hpp"
#include "models/workload/steps/rehearsal.hpp"
#include "sim/core/id.hpp"
#include "sim/core/time.hpp"

namespace orrery {

// Rates are means over 32 sampled instants, called moments. The duty cycle d of a gang is the share
// of its step in which it exchanges across nodes. Each gang has a random order of the moments, and
// exchanges in about the first 32 * d of them. While a gang exchanges, it puts the load w * rate on
// a link, where w is the gang's weight on the link. A link of capacity C offers a gang, in each
// moment,
//     max(C / (w + sum of the others' w), (C - sum of the others' w * rate) / w)
// where the sums are over the other gangs that exchange in this moment. The first term is an equal
// share, the second is what slower gangs leave. The rate of a gang in one moment is the least offer
// of its links, or the gang's own limit if that is less. The rate of the gang is the mean over all
// moments. A new rate changes the gang's duty cycle, and so the rates of other gangs. So gangs are
// evaluated in turn until the rates settle.
//
// Example: gangs A and B with d = 1/4 share one link that either could fill. In the 8 moments in
// which B exchanges, A is offered half of the link; in the other 24 moments, all of it. The first
// evaluation gives A (8 * 1/2 + 24) / 32 = 7/8 of the link.
//
// A gang is limited only by the 64 of its links with the highest demand relative to their capacity.
// It is evaluated again once the load on these links has changed by more than 2 % on average. So
// its rate may be out of date by about 2 %.
class ExpectedRates {
 public:
  static constexpr size_t kWatched = 64;  // at most this many links limit a gang
  struct Use {
    LinkId link;
    double weight;
    double capacity;  // capacity of the link, bits a second
    double pressure;  // demand of all its gangs when each is alone, relative to the capacity
  };
  // Adds a gang, or replaces its entry. `across` is a first estimate of the duration of the gang's
  // exchange across nodes.
  void join(JobId job, const SharingGang& gang, std::vector<Use> uses, Duration across);
  void leave(JobId job);
  void set_capacity(LinkId link, double bits_per_s);
  bool contains(JobId job) const { return job.index < gangs_.size() && gangs_[job.index].is_in; }
  size_t uses(JobId job) const { return gangs_[job.index].uses.size(); }

  // Evaluates new gangs and gangs whose links have changed, and returns the evaluated gangs.
  // across() of a returned gang may be the same as before.
  std::span<const JobId> settle();
  Duration across(JobId job) const { return gangs_[job.index].across; }
  uint64_t worked_out() const { return worked_out_; }

 private:
  static constexpr uint32_t kMoments = 32;
  using Sums = std::array<double, kMoments>;  // by moment
  struct Load {                               // load of a gang on its links
    double rate = 0;                          // bits a second while it exchanges
    double part = 0;                          // share of the moments in which it exchanges
    Sums active{};                            // 1 if the gang exchanges in that moment
    double mean() const { return rate * part; }
  };
  struct RatedGang {
    bool is_in = false, is_queued = false;
    int32_t visits = 0;  // evaluations by the present settle()
    // Mean relative change of load on its watched links since its last evaluation.
    double drift = 0;
    StepCycle cycle;
    Bytes bytes;
    double rate_max = 0;
    std::vector<LinkUse> uses, watched;
    // The place of each moment in the gang's random order, from 0 to 31. The gang exchanges in the
    // moments with the lowest places.
    Sums order{};
    double dither = 0;  // drawn in [0, 1): rounds the number of these moments up or down
    Duration across{};
    Load load;
  };
  struct Member {
    JobId job;
    double weight;
  };
  struct Link {
    double capacity = 0;
    std::vector<Member> members{};
    std::vector<JobId> watchers{};  // gangs that this link may limit
    // The fields below are up to date only while the link has watchers.
    double mean_load = 0;
    Sums weight{}, load{};  // by moment: sums over the gangs that exchange in it
  };
  void draw_order(RatedGang& gang);
  Load load_of(const RatedGang& gang, Duration across) const;
  void attach(JobId job, const Use& use);
  struct Change {  // a change of a gang's load
    Sums active{}, load{};
    double mean = 0;
    Change(const Load& before, const Load& after);
  };
  void add_load(Link& link, double weight, const Change& change);
  void put_load(RatedGang& gang, const Load& load);
  void watch(JobId job, const LinkUse& use);
  void work_out(JobId job);
  double mean_rate(const RatedGang& gang) const;
  void queue(JobId job);

  std::vector<RatedGang> gangs_;  // by job
  std::vector<Link> links_;
  std::deque<JobId> queue_;
  std::vector<JobId> done_;
  uint64_t joined_ = 0, worked_out_ = 0;
};

}  // namespace orrery
