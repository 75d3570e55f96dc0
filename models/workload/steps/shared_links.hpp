// models/workload/steps/shared_links.hpp -- how long the steps of gangs take that share links.
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

// A link is contended if its gangs could fill it together. A gang on no contended link steps in
// closed form. Gangs that contended links connect, also through others, are a group: up to 16 are
// rehearsed, unless their steps are too unlike; other groups go by expected rates. Steps are worked
// out anew, once an instant, in Phase::Settle, when gangs begin, end or change and when capacities
// do, and hold until then. A gang that pauses counts as one that goes on.
class SharedLinks {
 public:
  static constexpr size_t kRehearsedMax = 16;
  // Links and capacities are those of `flows`, which must outlive it. Groups of up to
  // `rehearsed_max` gangs are rehearsed.
  SharedLinks(Engine& engine, FlowNetwork& flows, size_t rehearsed_max = kRehearsedMax);
  SharedLinks(const SharedLinks&) = delete;
  SharedLinks& operator=(const SharedLinks&) = delete;
  ~SharedLinks() { engine_.cancel(settle_event_); }

  // The gang steps so from now on, or otherwise than before. `rate_max`: a limit besides links.
  void set(JobId job, const SharingGang& gang);
  void remove(JobId job);

  struct Step {
    Duration across;  // the exchange across nodes, the mean; max: it cannot exchange
    Duration length;
    bool operator==(const Step&) const = default;
  };
  // As of the last settling; of a gang that was set since then, alone.
  const Step& step(JobId job) const { return gangs_[job.index].step; }
  Signal<JobId> changed;  // step()

  uint64_t steps_rehearsed() const { return steps_rehearsed_; }
  uint64_t rates_expected() const { return expected_.worked_out(); }

 private:
  struct WatchedGang {
    bool is_there = false, is_dirty = false;
    SharingGang own;        // rate_max: what its links leave it alone
    double rate_limit = 0;  // its own, bits a second
    Step alone, step;       // step: as emitted last
    Time as_of{};           // of own.position
    uint32_t found = 0;     // by the last search that came by
    size_t flips = 0;       // links that became contended or ceased to, since it joined expected_
    bool shares() const { return is_there && alone.length != Duration::max(); }
  };
  struct Member {
    JobId job;
    double weight, demand;  // demand: bits a second that the gang puts there alone
  };
  struct Link {
    std::vector<Member> members;  // in id order
    double capacity = 0, demand = 0;
    uint32_t searched = 0;              // by the last search that came by
    uint32_t rehearsal = 0, place = 0;  // the last rehearsal, and where the link stands there
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
  std::vector<JobId> seeds_;    // from which the next settling searches
  std::vector<JobId> group_;    // that the last search found
  std::vector<JobId> changed_;  // in the settling under way
  uint32_t searches_ = 0, rehearsals_ = 0;
  EventId settle_event_;
  uint64_t steps_rehearsed_ = 0;
};

}  // namespace orrery
