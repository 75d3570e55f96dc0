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

// The method draws 32 moments. A gang with duty cycle d (the share of its step in which it
// exchanges across nodes) is active in about 32 d of them, in an order drawn for it. In each moment
// a link of capacity C offers the gang
//     max(C / (w + sum of the others' w), (C - sum of the others' w * rate) / w)
// over the active others: an equal share, or what slower gangs leave. The gang's rate in a moment
// is the least offer of its links, or its own limit. Its rate is the mean over all moments. That
// rate changes its duty cycle, which changes the others' rates; gangs are evaluated in turn until
// the rates settle.
//
// Example: two gangs with d = 1/4 on one link that either could fill. In 8 of 32 moments a gang
// shares the link and gets one half, in 24 it gets all: its mean rate is 7/8 of the link.
//
// Only the 64 links of a gang with the highest demand per capacity limit its rate. A gang is
// evaluated again once the load on them changed by more than 2 % in the mean, so its rate may be
// stale by about that much.
class ExpectedRates {
 public:
  static constexpr size_t kWatched = 64;  // links that limit a gang
  struct Use {
    LinkId link;
    double weight;
    double capacity;  // of the link, bits a second
    double pressure;  // sum of its gangs' loads when alone, in parts of the capacity
  };
  // Replaces the gang's earlier entry, if any.
  void join(JobId job, const SharingGang& gang, std::vector<Use> uses, Duration across);
  void leave(JobId job);
  void set_capacity(LinkId link, double bits_per_s);
  bool contains(JobId job) const { return job.index < gangs_.size() && gangs_[job.index].is_in; }
  size_t uses(JobId job) const { return gangs_[job.index].uses.size(); }

  // Evaluates changed gangs. Returns the evaluated gangs; across() may be unchanged.
  std::span<const JobId> settle();
  Duration across(JobId job) const { return gangs_[job.index].across; }
  uint64_t worked_out() const { return worked_out_; }

 private:
  static constexpr uint32_t kMoments = 32;
  using Sums = std::array<double, kMoments>;  // by moment
  struct Load {                               // of a gang, on its links
    double rate = 0;                          // bits a second while it exchanges
    double part = 0;                          // share of the moments
    Sums active{};                            // 1 if the gang exchanges in that moment
    double mean() const { return rate * part; }
  };
  struct RatedGang {
    bool is_in = false, is_queued = false;
    int32_t visits = 0;  // evaluations in this settling
    double drift = 0;    // load change on its watched links since its last evaluation
    StepCycle cycle;
    Bytes bytes;
    double rate_max = 0;
    std::vector<LinkUse> uses, watched;
    Sums order{};       // an order of the moments
    double dither = 0;  // rounds 32 d up or down
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
    // Only a link with watchers has the following.
    double mean_load = 0;
    Sums weight{}, load{};  // of gangs that exchange in each moment
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
