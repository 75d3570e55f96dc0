// models/network/sharing/flow_network.hpp -- flows that share the bandwidth of links: transfers of
// a given size, and flows without a given end.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "models/network/sharing/max_min.hpp"
#include "sim/core/callback.hpp"
#include "sim/core/int128.hpp"
#include "sim/core/time.hpp"
#include "sim/engine/engine.hpp"
#include "sim/engine/signal.hpp"

namespace orrery {

// Handle to a flow. It becomes stale once the flow has finished or was ended.
struct FlowId {
  uint32_t index = UINT32_MAX;  // dense and reused, so it can index tables
  uint32_t generation = 0;
  constexpr bool operator==(const FlowId&) const = default;
};

// Flows start, change and end at any time. Rates are computed once per instant, in Phase::Settle,
// and only flows whose rate changed are updated. Example: flow A, alone on a link of 10 Gbit/s,
// moves at 10. When flow B starts, both get 5. When B ends, A gets 10 again.
//
// Progress is an integer (FlowUnits), so it does not depend on how often it is read. A transfer
// ends at the first nanosecond with at most a thousandth of a bit left.
class FlowNetwork {
 public:
  static constexpr double kUnlimited = MaxMin::kUnlimited;
  struct Transfer {
    Bytes size;
    std::span<const LinkUse> uses;  // copied; each link carries weight * size
    Duration latency = {};          // before the first byte moves
    double rate_max = kUnlimited;   // bits a second
  };
  struct Counters {
    uint64_t started = 0, finished = 0, ended_early = 0;  // flows of all kinds
    uint64_t settled = 0, rates_changed = 0;
  };

  explicit FlowNetwork(Engine& engine) : engine_{engine} {}
  FlowNetwork(const FlowNetwork&) = delete;
  FlowNetwork& operator=(const FlowNetwork&) = delete;
  ~FlowNetwork();

  // Groups of links are numbered from 0. carried_by() reports the bytes over the links of a group.
  static constexpr uint32_t kGroups = 4;
  LinkId add_link(Bandwidth capacity, uint32_t group = 0);
  // A capacity of zero means that the link is down. Flows on it then wait until it has a capacity
  // again.
  void set_capacity(LinkId link, Bandwidth capacity);

  // Calls `done`, which may be empty, after all bytes have moved and the flow is removed. `done`
  // may start flows.
  FlowId start(const Transfer& transfer, Callback done);
  // Opens a flow that moves bytes until end() is called. rate_changed reports the flow's rate.
  FlowId open(std::span<const LinkUse> uses, double rate_max = kUnlimited);
  // Ends a flow early without calling `done`. Returns false if the handle is stale.
  bool end(FlowId flow);
  // set_uses() and set_rate_max() keep the progress made. The flow must be active. A flow without
  // links is limited only by `rate_max`. So set `rate_max` to 0 while a flow has no route.
  void set_uses(FlowId flow, std::span<const LinkUse> uses);
  void set_rate_max(FlowId flow, double rate_max);
  // Opens a flow that lasts until end(). Its rate is 0 until set_carried_rate() is called. Other
  // flows lose no bandwidth to this flow. carried_by() always includes the bytes of this flow.
  // carried() includes them only after end() or book_carried().
  FlowId carry(std::span<const LinkUse> uses);
  void set_carried_rate(FlowId flow, double bits_per_s);
  void book_carried();

  // Emitted in Phase::Settle, when all rates are known, for each open() flow that is new or whose
  // rate changed.
  Signal<FlowId> rate_changed;
  Signal<LinkId> capacity_changed;  // emitted by set_capacity()

  bool is_active(FlowId flow) const;
  // rate() and moved() use the rates of the last Phase::Settle. For a carry() flow, rate() returns
  // 0, and moved() uses the rate that was set. The flow must be active.
  double rate(FlowId flow) const;  // bits a second; infinite if it has no links and no limit
  Bytes moved(FlowId flow) const;  // until now, rounded down

  size_t links() const { return sharing_.links(); }
  double load(LinkId link) const { return sharing_.load(link); }  // bits a second
  double capacity(LinkId link) const { return sharing_.capacity(link); }
  Bytes carried(LinkId link) const;  // until now, finished flows included; rounded to nearest
  double carried_by(uint32_t group) const;  // bytes; takes time proportional to the number of flows
  size_t active() const { return active_; }
  const Counters& counters() const { return counters_; }
  // Fails a check if a link carries more than its capacity. Passed to Engine::add_audit.
  void audit() const;

 private:
  enum class State : uint8_t { Free, Waiting, Moving, Standing, Carried };
  struct Flow {
    State state = State::Free;
    uint32_t generation = 1;
    int128_t rate = 0;       // in FlowUnits, from `since` on; kInstant: unlimited
    Time since;              // instant for which `moved` is right
    int128_t moved = 0;      // in FlowUnits times nanoseconds
    int128_t accounted = 0;  // part of `moved` that carried_ includes
    int128_t size = 0;       // size of a transfer, in the unit of `moved`
    double rate_max = 0;
    std::array<double, kGroups> weights{};  // sums of weights over the links of each group
    std::vector<LinkUse> carries;           // links of a carry() flow, which shares no bandwidth
    EventId event;                          // start or end of a transfer
    Callback done;
  };
  FlowId id_of(uint32_t index) const { return {index, flows_[index].generation}; }
  Flow& active_flow(FlowId flow);
  uint32_t add_flow(std::span<const LinkUse> uses, double rate_max);
  void begin(uint32_t index);
  void finish(uint32_t index);
  void drop(uint32_t index);
  void weigh(uint32_t index);
  int128_t moved_by_now(const Flow& flow) const;
  void account(uint32_t index);
  void plan_end(uint32_t index);
  void request_settle();
  void settle();

  Engine& engine_;
  MaxMin sharing_;
  std::vector<Flow> flows_;           // by ActivityId of sharing_
  IdVector<LinkId, double> carried_;  // bytes so far, up to the last account() of each flow
  IdVector<LinkId, uint8_t> group_;
  std::array<double, kGroups> carried_by_{};  // bytes by group, up to the last account()
  std::vector<FlowId> news_;                  // open() flows whose rate changed
  EventId settle_event_;
  size_t active_ = 0;
  Counters counters_;
};

}  // namespace orrery
