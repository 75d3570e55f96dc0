#include "models/network/fabric/link_state.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/core/check.hpp"

namespace orrery {
namespace {

// An InfiniBand packet with an MTU of 4 KiB: 4,096 bytes of payload plus headers.
constexpr double kPacketBits = 33'000;

}  // namespace

double goodput_share(double bit_error_rate, Bandwidth rate, Duration ack_timeout) {
  const double damaged = -std::expm1(kPacketBits * std::log1p(-bit_error_rate));
  const double packets_per_s = static_cast<double>(rate.bits_per_s) / kPacketBits;
  return 1.0 / (1.0 + damaged * ack_timeout.seconds() * packets_per_s);
}

LinkState::LinkState(const Fabric& fabric, const LinkParams& params, bool is_adaptive)
    : fabric_{fabric},
      ack_timeout_{params.timeout()},
      is_adaptive_{is_adaptive},
      blocked_(fabric.cables(), 0),
      cable_down_(fabric.cables(), false),
      switch_down_(fabric.switches(), false) {}

Bandwidth LinkState::capacity(LinkId link) const {
  const CableId cable = cable_of(link);
  if (!is_up(cable)) return {};
  const Bandwidth nominal = fabric_.nominal(cable);
  const auto flaw = flaws_.find(cable);
  if (flaw == flaws_.end()) return nominal;
  double share = goodput_share(flaw->second.bit_error_rate, nominal, ack_timeout_);
  if (is_adaptive_) share /= flaw->second.curse;
  return {static_cast<int64_t>(static_cast<double>(nominal.bits_per_s) * share)};
}

void LinkState::set_up(CableId cable, bool is_up, Time now) {
  ORRERY_CHECK(cable.index < blocked_.size(), "a cable of the fabric");
  if (cable_down_[cable.index] == !is_up) return;
  cable_down_[cable.index] = !is_up;
  ++routes_version_;  // before block() emits a signal, whose observers compare versions
  block(cable, is_up ? -1 : 1, now);
}

void LinkState::set_up(SwitchId s, bool is_up, Time now) {
  ORRERY_CHECK(s.index < switch_down_.size(), "a switch of the fabric");
  if (switch_down_[s.index] == !is_up) return;
  switch_down_[s.index] = !is_up;
  ++routes_version_;
  for (const CableId cable : fabric_.cables_of(s)) block(cable, is_up ? -1 : 1, now);
}

void LinkState::block(CableId cable, int by, Time now) {
  const bool was_up = is_up(cable);
  const auto flaw = flaws_.find(cable);
  if (flaw != flaws_.end()) count_errors(cable, flaw->second, now);
  blocked_[cable.index] = static_cast<uint8_t>(blocked_[cable.index] + by);
  if (was_up == is_up(cable)) return;
  was_up ? ++cables_down_ : --cables_down_;
  tell(cable);
}

void LinkState::tell(CableId cable) {
  capacity_changed_.emit(up_link(cable));
  capacity_changed_.emit(down_link(cable));
}

double LinkState::errors_until(CableId cable, const Flaw& flaw, Time now) const {
  if (!is_up(cable) || now < flaw.since) return flaw.errors;
  const auto bits_per_s = static_cast<double>(fabric_.nominal(cable).bits_per_s);
  return flaw.errors + bits_per_s * flaw.bit_error_rate * (now - flaw.since).seconds();
}

void LinkState::count_errors(CableId cable, Flaw& flaw, Time now) const {
  flaw.errors = errors_until(cable, flaw, now);
  flaw.since = now;
}

void LinkState::set_bit_error_rate(CableId cable, double rate, Time now) {
  ORRERY_CHECK(cable.index < blocked_.size(), "a cable of the fabric");
  ORRERY_CHECK(rate >= 0 && rate < 1, "a probability for each bit");
  Flaw& flaw = flaws_[cable];
  count_errors(cable, flaw, now);
  if (std::exchange(flaw.bit_error_rate, rate) != rate) tell(cable);
}

void LinkState::curse(CableId cable, double factor) {
  ORRERY_CHECK(cable.index < blocked_.size(), "a cable of the fabric");
  ORRERY_CHECK(factor >= 1, "a curse makes no cable faster");
  const double before = std::exchange(flaws_[cable].curse, factor);
  if (before != factor && is_adaptive_) tell(cable);
}

void LinkState::set_adaptive(bool is_adaptive) {
  if (std::exchange(is_adaptive_, is_adaptive) == is_adaptive) return;
  ++routes_version_;
  for (const auto& [cable, flaw] : flaws_) {
    if (flaw.curse != 1) tell(cable);
  }
}

double LinkState::bit_error_rate(CableId cable) const {
  const auto flaw = flaws_.find(cable);
  return flaw == flaws_.end() ? 0 : flaw->second.bit_error_rate;
}

int64_t LinkState::symbol_errors(CableId cable, Time now) const {
  const auto flaw = flaws_.find(cable);
  if (flaw == flaws_.end()) return 0;
  return std::llround(std::min(errors_until(cable, flaw->second, now), 9e18));
}

int64_t LinkState::symbol_errors(Time now) const {
  double errors = 0;
  for (const auto& [cable, flaw] : flaws_) errors += errors_until(cable, flaw, now);
  return std::llround(std::min(errors, 9e18));
}

std::vector<NicErrors> LinkState::nic_errors(Time now) const {
  std::vector<NicErrors> all;
  for (const auto& [cable, flaw] : flaws_) {
    if (cable.index >= fabric_.nics()) break;  // cables of NICs come first, node by node
    const int64_t errors = symbol_errors(cable, now);
    if (errors == 0) continue;
    const NodeId node = fabric_.node_of({cable.index});
    if (all.empty() || all.back().node != node) all.push_back({.node = node});
    all.back().symbol_errors += errors;
    if (!is_up(cable)) continue;
    const auto bits_per_s = static_cast<double>(fabric_.nominal(cable).bits_per_s);
    all.back().per_hour += bits_per_s * flaw.bit_error_rate * 3600;
  }
  return all;
}

uint32_t LinkState::cables_slow() const {
  uint32_t slow = 0;
  for (const auto& [cable, flaw] : flaws_) {
    const bool is_slow = flaw.bit_error_rate > 0 || (is_adaptive_ && flaw.curse > 1);
    slow += is_slow && is_up(cable) ? 1 : 0;
  }
  return slow;
}

size_t LinkState::memory_bytes() const {
  return blocked_.capacity() + (cable_down_.capacity() + switch_down_.capacity()) / 8 +
         flaws_.size() * (sizeof(CableId) + sizeof(Flaw) + 4 * sizeof(void*));
}

}  // namespace orrery
