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

// Time is represented by 32 moments. The duty cycle d of a gang is the share of its step in which
// it exchanges across nodes. Each gang has a random order of the moments, and is active in about
// the first 32 d of them. While it is active, it puts the load w * rate on a link, where w is its
// weight on the link. A link of capacity C offers a gang, in each moment,
//     max(C / (w + sum of the others' w), (C - sum of the others' w * rate) / w)
// where the sums are over the other active gangs. The first term is an equal share, the second is
// what slower gangs leave. The gang's rate in a moment is the least offer of its links, or its own
// limit if that is less. Its rate is the mean over all moments. That rate changes its duty cycle,
// which changes the others' rates. So gangs are evaluated in turn until the rates settle.
//
// Example: two gangs with d = 1/4 share one link that either could fill. In the 8 moments in which
// the other gang is active, a gang is offered half of the link, in the other 24 all of it. The
// first evaluation gives it (8 * 1/2 + 24) / 32 = 7/8 of the link.
//
// A gang is limited only by the 64 of its links with the highest demand relative to their capacity.
// It is evaluated again once the load on these links has changed by more than 2 % on average. So
// its rate may be stale by about that much.
class ExpectedRates {
 public:
  static constexpr size_t kWatched = 64;  // at most this many links limit a gang
  struct Use {
    LinkId link;
    double weight;
    double capacity;  // capacity of the link, bits a second
    double pressure;  // demand of all its gangs when each is alone, relative to the capacity
  };
  // Adds a gang, or replaces its entry. `across` is the first estimate of its exchange's duration.
  void join(JobId job, const SharingGang& gang, std::vector<Use> uses, Duration across);
  void leave(JobId job);
  void set_capacity(LinkId link, double bits_per_s);
  bool contains(JobId job) const { return job.index < gangs_.size() && gangs_[job.index].is_in; }
  size_t uses(JobId job) const { return gangs_[job.index].uses.size(); }

  // Evaluates changed gangs and returns them. across() of a returned gang may be unchanged.
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
    // By moment: its place, 0 to 31, in the gang's random order. The gang exchanges in the first.
    Sums order{};
    double dither = 0;  // drawn in [0, 1): rounds the number of active moments up or down
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
    std::vector<JobId> watchers{};
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
