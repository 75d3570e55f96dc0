#include "models/scheduling/cycle/policy_services.hpp"

#include <type_traits>
#include <utility>
#include <variant>

namespace orrery {

void PolicyServices::carry_out(const PolicyCommand& command, CommandSink& later) {
  if (const auto* const evict = std::get_if<Evict>(&command.order)) {
    return evict_first(command.plugin, *evict, later);
  }
  const auto carry_out = [&](const auto& order) {
    if constexpr (!std::is_same_v<decltype(order), const Evict&>) do_it(command.plugin, order);
  };
  std::visit(carry_out, command.order);
}

// Evicts only the first victim, and gives the other victims to `later` as a new command. If the
// first victim waits in Permit, a plugin may reject its whole gang in Unreserve. This rejection is
// carried out before the new command. Victims that the rejection requeues are not evicted.
void PolicyServices::evict_first(uint8_t plugin, Evict order, CommandSink& later) {
  if (order.victims.empty()) return;
  const PodId first = order.victims.front();
  context_.evictions.evict(order.preemptor, {&first, 1}, order.waits);
  order.victims.erase(order.victims.begin());
  if (!order.victims.empty()) later.give({plugin, std::move(order)});
}

void PolicyServices::do_it(uint8_t plugin, const AllowWaiting& order) {
  context_.reservations.allow(order.pod, plugin);
}

void PolicyServices::do_it(uint8_t /*plugin*/, const RejectWaiting& order) {
  context_.reservations.reject(order.pod, order.reason, AttemptOutcome::Rejected);
}

void PolicyServices::do_it(uint8_t /*plugin*/, const RejectGangs& order) {
  for (uint32_t i = 0; i < static_cast<uint32_t>(order.gangs); ++i) {
    context_.reservations.reject_gang({order.first.index + i}, order.reason);
  }
}

void PolicyServices::do_it(uint8_t /*plugin*/, const ActivateSiblings& order) {
  context_.line.activate_siblings(order.pod);
}

void PolicyServices::do_it(uint8_t /*plugin*/, const SetGangFailure& order) {
  GangTrack& t = context_.tracks.of(order.gang);
  const bool is_earlier = order.failed_at < t.last_failure;
  t.last_failure = order.failed_at;
  t.backoff_until = order.backoff_until;
  // If the failure is now earlier or cleared, the gang's members may move forward in the queue.
  // After a later failure, the queue itself moves each member back when it reaches the front.
  if (is_earlier) context_.line.gang_recovered(order.gang);
}

void PolicyServices::do_it(uint8_t /*plugin*/, const Nominate& order) {
  context_.preemptions.nominate(order.pod, order.node, order.is_tried_first);
}

void PolicyServices::do_it(uint8_t /*plugin*/, const WithdrawNomination& order) {
  context_.preemptions.withdraw(order.pod);
}

}  // namespace orrery
