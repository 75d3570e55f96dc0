#include "models/network/sharing/flow_network.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "models/network/sharing/flow_units.hpp"
#include "sim/core/check.hpp"

namespace orrery {
namespace {

double bytes_of(int128_t moved) {
  return static_cast<double>(moved) / static_cast<double>(FlowUnits::kPerByte);
}

}  // namespace

FlowNetwork::~FlowNetwork() {
  for (const Flow& flow : flows_) engine_.cancel(flow.event);
  engine_.cancel(settle_event_);
}

LinkId FlowNetwork::add_link(Bandwidth capacity, uint32_t group) {
  ORRERY_CHECK(group < kGroups, "one of the groups");
  carried_.push_back(0);
  group_.push_back(static_cast<uint8_t>(group));
  return sharing_.add_link(static_cast<double>(capacity.bits_per_s));
}

void FlowNetwork::set_capacity(LinkId link, Bandwidth capacity) {
  sharing_.set_capacity(link, static_cast<double>(capacity.bits_per_s));
  request_settle();
  capacity_changed.emit(link);
}

FlowId FlowNetwork::start(const Transfer& transfer, Callback done) {
  ORRERY_CHECK(transfer.size.count >= 0, "no transfer has a negative size");
  ORRERY_CHECK(transfer.latency >= Duration{}, "no transfer starts in the past");
  const bool waits = transfer.latency > Duration{};
  const uint32_t index = add_flow(transfer.uses, waits ? 0 : transfer.rate_max);
  Flow& flow = flows_[index];
  flow.state = waits ? State::Waiting : State::Moving;
  flow.size = transfer.size.count * FlowUnits::kPerByte;
  flow.rate_max = transfer.rate_max;
  flow.done = std::move(done);
  if (waits) {
    flow.event =
        engine_.after(transfer.latency, Label{"net.flow_begins"}, [this, index] { begin(index); });
  }
  return id_of(index);
}

FlowId FlowNetwork::open(std::span<const LinkUse> uses, double rate_max) {
  const uint32_t index = add_flow(uses, rate_max);
  flows_[index].state = State::Standing;
  flows_[index].rate_max = rate_max;
  return id_of(index);
}

uint32_t FlowNetwork::add_flow(std::span<const LinkUse> uses, double rate_max) {
  const uint32_t index = sharing_.add(uses, rate_max).index;
  if (index == flows_.size()) flows_.emplace_back();
  Flow& flow = flows_[index];
  ORRERY_CHECK(flow.state == State::Free, "a flow has an activity of its own");
  flow.rate = flow.moved = flow.accounted = flow.size = 0;
  flow.since = engine_.now();
  weigh(index);
  ++active_;
  ++counters_.started;
  request_settle();
  return index;
}

void FlowNetwork::begin(uint32_t index) {
  flows_[index].state = State::Moving;
  sharing_.set_rate_max({index}, flows_[index].rate_max);
  // settle() plans an end only if the rate changes. On a dead link the rate stays 0, but a transfer
  // of 0 bytes must end even there.
  plan_end(index);
  request_settle();
}

bool FlowNetwork::end(FlowId flow) {
  if (!is_active(flow)) return false;
  account(flow.index);
  ++counters_.ended_early;
  drop(flow.index);
  return true;
}

void FlowNetwork::set_uses(FlowId flow, std::span<const LinkUse> uses) {
  active_flow(flow);
  account(flow.index);
  sharing_.set_uses({flow.index}, uses);
  weigh(flow.index);
  request_settle();
}

void FlowNetwork::weigh(uint32_t index) {
  std::array<double, kGroups>& weights = flows_[index].weights;
  weights = {};
  for (const MaxMin::Use& use : sharing_.uses({index})) weights[group_[use.link]] += use.weight;
}

// A carried flow shares no bandwidth. It is added to sharing_ without links, to get an index.
FlowId FlowNetwork::carry(std::span<const LinkUse> uses) {
  const uint32_t index = add_flow({}, 0);
  Flow& flow = flows_[index];
  flow.state = State::Carried;
  flow.carries.assign(uses.begin(), uses.end());
  for (const LinkUse& use : uses) flow.weights[group_[use.link]] += use.weight;
  return id_of(index);
}

void FlowNetwork::set_carried_rate(FlowId flow, double bits_per_s) {
  Flow& changed = active_flow(flow);
  ORRERY_CHECK(changed.state == State::Carried, "other flows share links");
  changed.moved = moved_by_now(changed);
  changed.since = engine_.now();
  changed.rate = FlowUnits::of_rate(bits_per_s);
}

void FlowNetwork::book_carried() {
  for (uint32_t i = 0; i < flows_.size(); ++i) {
    if (flows_[i].state == State::Carried) account(i);
  }
}

void FlowNetwork::set_rate_max(FlowId flow, double rate_max) {
  Flow& changed = active_flow(flow);
  changed.rate_max = rate_max;
  if (changed.state == State::Waiting) return;
  sharing_.set_rate_max({flow.index}, rate_max);
  request_settle();
}

bool FlowNetwork::is_active(FlowId flow) const {
  return flow.index < flows_.size() && flows_[flow.index].generation == flow.generation &&
         flows_[flow.index].state != State::Free;
}

FlowNetwork::Flow& FlowNetwork::active_flow(FlowId flow) {
  ORRERY_CHECK(is_active(flow), "only an active flow is changed");
  return flows_[flow.index];
}

double FlowNetwork::rate(FlowId flow) const {
  ORRERY_CHECK(is_active(flow), "only an active flow has a rate");
  return sharing_.rate({flow.index});
}

Bytes FlowNetwork::moved(FlowId flow) const {
  ORRERY_CHECK(is_active(flow), "a flow that is over is not known any more");
  return {static_cast<int64_t>(moved_by_now(flows_[flow.index]) / FlowUnits::kPerByte)};
}

Bytes FlowNetwork::carried(LinkId link) const {
  double bytes = carried_[link];
  sharing_.for_each_on(link, [&](ActivityId activity, double weight) {
    const Flow& flow = flows_[activity.index];
    bytes += weight * bytes_of(moved_by_now(flow) - flow.accounted);
  });
  return {std::llround(bytes)};
}

double FlowNetwork::carried_by(uint32_t group) const {
  double bytes = carried_by_[group];
  for (const Flow& flow : flows_) {
    if (flow.state == State::Free || flow.weights[group] == 0) continue;
    bytes += flow.weights[group] * bytes_of(moved_by_now(flow) - flow.accounted);
  }
  return bytes;
}

void FlowNetwork::audit() const {
  if (!sharing_.is_solved()) return;
  for (uint32_t i = 0; i < links(); ++i) {
    ORRERY_CHECK(load({i}) <= capacity({i}) * (1 + 1e-9), "no link carries more than it can");
  }
}

int128_t FlowNetwork::moved_by_now(const Flow& flow) const {
  if (flow.rate == FlowUnits::kInstant)
    return flow.state == State::Standing ? flow.moved : flow.size;
  const int128_t moved = flow.moved + flow.rate * (engine_.now() - flow.since).ns;
  const bool is_endless = flow.state == State::Standing || flow.state == State::Carried;
  return is_endless ? moved : std::min(moved, flow.size);
}

// Adds the bytes moved since the previous account() to the counters of the links of the flow.
void FlowNetwork::account(uint32_t index) {
  Flow& flow = flows_[index];
  flow.moved = moved_by_now(flow);
  flow.since = engine_.now();
  const double bytes = bytes_of(flow.moved - flow.accounted);
  flow.accounted = flow.moved;
  for (const MaxMin::Use& use : sharing_.uses({index})) carried_[use.link] += use.weight * bytes;
  for (const LinkUse& use : flow.carries) carried_[use.link] += use.weight * bytes;
  for (uint32_t g = 0; g < kGroups; ++g) carried_by_[g] += flow.weights[g] * bytes;
}

void FlowNetwork::finish(uint32_t index) {
  Flow& flow = flows_[index];
  ORRERY_CHECK(flow.size - moved_by_now(flow) <= FlowUnits::kLeftOver,
               "a transfer ends when all is moved");
  flow.moved = flow.size;
  flow.rate = 0;
  account(index);
  ++counters_.finished;
  Callback done = std::move(flow.done);
  drop(index);
  if (done) done();
}

void FlowNetwork::drop(uint32_t index) {
  Flow& flow = flows_[index];
  engine_.cancel(flow.event);
  sharing_.remove({index});
  flow.state = State::Free;
  flow.carries.clear();
  flow.done.reset();
  ++flow.generation;
  --active_;
  request_settle();
}

void FlowNetwork::plan_end(uint32_t index) {
  Flow& flow = flows_[index];
  engine_.cancel(flow.event);
  const auto span = FlowUnits::time_to_move(flow.size - flow.moved, flow.rate);
  if (!span || engine_.now() + *span == Time::max()) return;
  flow.event = engine_.after(*span, Label{"net.flow_done"}, [this, index] { finish(index); });
}

void FlowNetwork::request_settle() {
  if (engine_.is_pending(settle_event_)) return;
  settle_event_ = engine_.at(
      engine_.now(), Label{"net.settle"}, [this] { settle(); }, Phase::Settle);
}

void FlowNetwork::settle() {
  const std::span<const ActivityId> changed = sharing_.solve();
  ++counters_.settled;
  counters_.rates_changed += changed.size();
  for (const ActivityId activity : changed) {
    Flow& flow = flows_[activity.index];
    if (flow.state == State::Carried) continue;
    flow.moved = moved_by_now(flow);
    flow.since = engine_.now();
    flow.rate = FlowUnits::of_rate(sharing_.rate(activity));
    if (flow.state == State::Moving) plan_end(activity.index);
    if (flow.state == State::Standing) news_.push_back(id_of(activity.index));
  }
  for (size_t i = 0; i < news_.size(); ++i) {
    const FlowId flow = news_[i];
    if (is_active(flow)) rate_changed.emit(flow);
  }
  news_.clear();
}

}  // namespace orrery
