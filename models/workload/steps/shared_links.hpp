// models/workload/steps/shared_links.hpp -- step durations of gangs that share links.
#pragma once

#include <cstdint>
#include <vector>

#include "models/network/sharing/flow_network.hpp"
#include "models/workload/steps/expected_rates.hpp"
#include "models/workload/steps/rehearsal.hpp"
#include "sim/core/id.hpp"
#include "sim/core/time.hpp"
#include "sim/engine/engine.hpp"
#include "sim/engine/signal.hpp"

namespace orrery {

// A link is contended if the rates that its gangs would reach alone add up to more than the link's
// capacity. The step of a gang without contended links has a closed form. Gangs that are connected
// by contended links, directly or through other gangs, are a group. Groups of up to 16 gangs are
// rehearsed, see rehearse(), unless their steps differ too much; other groups use ExpectedRates.
// Example: A and B share link 1, B and C share link 2, and both links are contended. A, B and C are
// one group and are rehearsed together.
//
// When a gang begins, ends or changes, or a capacity changes, the steps of the affected groups are
// computed again, once per instant, in Phase::Settle. A paused gang counts as if it continued its
// steps.
class SharedLinks {
 public:
  static constexpr size_t kRehearsedMax = 16;
  // Links and capacities are those of `flows`, which must outlive this object. Groups of up to
  // `rehearsed_max` gangs are rehearsed.
  SharedLinks(Engine& engine, FlowNetwork& flows, size_t rehearsed_max = kRehearsedMax);
  SharedLinks(const SharedLinks&) = delete;
  SharedLinks& operator=(const SharedLinks&) = delete;
  ~SharedLinks() { engine_.cancel(settle_event_); }

  // Adds the gang, or changes its parameters to those of `gang`. The gang's rate is limited by
  // `gang.rate_max` and by the capacities of the gang's links.
  void set(JobId job, const SharingGang& gang);
  void remove(JobId job);

  struct Step {
    // Mean duration of the inter-node exchange; Duration::max() if this exchange cannot proceed.
    Duration across;
    Duration length;
    bool operator==(const Step&) const = default;
  };
  // The step that the last settle() found. After a set() of the gang and before the next settle():
  // the step that the gang would have without other gangs.
  const Step& step(JobId job) const { return gangs_[job.index].step; }
  Signal<JobId> changed;  // step() of the gang changed

  uint64_t steps_rehearsed() const { return steps_rehearsed_; }
  uint64_t rates_expected() const { return expected_.worked_out(); }

 private:
  struct WatchedGang {
    bool is_there = false, is_dirty = false;
    SharingGang own;        // rate_max: its rate without other gangs, at most `rate_limit`
    double rate_limit = 0;  // the limit given to set(), bits a second
    Step alone, step;       // alone: without other gangs; step: the value of step()
    Time as_of{};           // when own.position was computed
    uint32_t found = 0;     // number of the last search that reached the gang
    // How often a link of the gang became contended, or ceased to be, since expected_.join().
    size_t flips = 0;
    bool shares() const { return is_there && alone.length != Duration::max(); }
  };
  struct Member {
    JobId job;
    double weight, demand;  // demand: weight * own.rate_max of the gang; 0 if its step never ends
  };
  struct Link {
    std::vector<Member> members;  // in id order
    double capacity = 0, demand = 0;
    uint32_t searched = 0;              // number of the last search that reached the link
    uint32_t rehearsal = 0, place = 0;  // the last rehearsal, and the link's index in it
    bool is_contended() const { return demand > capacity * (1 + 1e-9); }
  };
  void link_changed(LinkId link);
  void put(JobId job);
  void set_demand(JobId job);
  void take_away(JobId job);
  void contention_changed(LinkId id, bool was_contended);
  ExpectedRates::Use use_of(LinkId id, double weight) const;
  void make_dirty(JobId job);
  void look_at(JobId job);
  void request_settle();
  void settle();
  void find_group(JobId first);
  bool is_small_group() const;
  void rehearse_group();
  void expect_group();
  void set_step(JobId job, Step step, double noticed = 0);
  void move_on(WatchedGang& gang) const;

  Engine& engine_;
  FlowNetwork& flows_;
  size_t rehearsed_max_;
  std::vector<WatchedGang> gangs_;  // by job
  std::vector<Link> links_;
  ExpectedRates expected_;
  std::vector<JobId> seeds_;    // gangs whose groups the next settle() searches for
  std::vector<JobId> group_;    // members found by the last search
  std::vector<JobId> changed_;  // gangs whose step changed in the present settle()
  uint32_t searches_ = 0, rehearsals_ = 0;
  EventId settle_event_;
  uint64_t steps_rehearsed_ = 0;
};

}  // namespace orrery
