#include "models/scheduling/cycle/policy_services.hpp"

#include <variant>

namespace orrery {

void PolicyServices::carry_out(const PolicyCommand& command) {
  std::visit([&](const auto& order) { do_it(command.plugin, order); }, command.order);
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
  // A later one is noticed when members get to the head of the queue.
  if (is_earlier) context_.line.gang_recovered(order.gang);
}

void PolicyServices::do_it(uint8_t /*plugin*/, const Nominate& order) {
  context_.preemptions.nominate(order.pod, order.node, order.is_tried_first);
}

void PolicyServices::do_it(uint8_t /*plugin*/, const WithdrawNomination& order) {
  context_.preemptions.withdraw(order.pod);
}

void PolicyServices::do_it(uint8_t /*plugin*/, const Evict& order) {
  context_.evictions.evict(order.preemptor, order.victims, order.waits);
}

}  // namespace orrery
