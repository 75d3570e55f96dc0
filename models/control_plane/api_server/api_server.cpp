#include "models/control_plane/api_server/api_server.hpp"

#include <algorithm>
#include <utility>

#include "models/control_plane/flow_control/flow_schemas.hpp"
#include "sim/core/check.hpp"

namespace orrery {

ApiServer::ApiServer(const ApiServerContext& context)
    : engine_{context.engine},
      params_{context.params},
      store_{context.store},
      statistics_{context.statistics},
      index_{context.index},
      nodes_{context.nodes},
      flow_control_{setup_of(params_.flow_control)},
      retry_after_(params_.flow_control.levels.size(),
                   RetryAfter{params_.flow_control.retry_after}),
      cpu_{engine_, params_.server.cores, Label{"control.api_computed"},
           [this](uint32_t slot) { computed(slot); }},
      egress_{engine_, 1, Label{"control.api_sent"}, [this](uint32_t slot) { sent(slot); }},
      steady_(params_.flow_control.levels.size()) {}

// The seats of a request, and how long the request keeps them after its response. A LIST takes a
// seat for each list_objects_per_seat objects, rounded up. A write with at least watchers_per_seat
// watchers takes a seat for each watchers_per_seat watchers, rounded up. The write keeps its seats
// for a while after its response, because watch events are still sent. LISTs and writes take at
// most seats_per_request_max seats. Any other request, and in mode MaxInflight every request, takes
// one seat.
//
// Example with the defaults: a write with 55 watchers takes 6 seats and keeps them for 5 ms. With
// 250 watchers it would need 25 seats. It gets 10, and keeps them for 5 ms x 25 / 10 = 12.5 ms.
ApiServer::Width ApiServer::width_of(const ApiRequest& request) const {
  const FlowControlParams& p = params_.flow_control;
  if (p.mode == FlowControlMode::MaxInflight) return {};
  if (request.verb == Verb::List) {
    const int64_t wanted =
        (int64_t{request.objects} + p.list_objects_per_seat - 1) / p.list_objects_per_seat;
    return {.seats = static_cast<int32_t>(std::clamp<int64_t>(wanted, 1, p.seats_per_request_max))};
  }
  const int32_t watching = watchers(request.resource);
  if (!is_mutating(request.verb) || watching < p.watchers_per_seat) return {};
  const int32_t wanted = (watching - 1) / p.watchers_per_seat + 1;
  const int32_t seats = std::min(wanted, p.seats_per_request_max);
  return {.seats = seats, .lingers = {p.watch_event_time.ns * wanted / seats}};
}

Bytes ApiServer::listed_by(const ApiRequest& request) const {
  if (request.verb != Verb::List) return {};
  return request.is_consistent ? std::max(request.bytes, request.answer) : request.answer;
}

uint32_t ApiServer::take_slot(const ApiRequest& request, ApiDone done) {
  if (free_ == kNone) {
    free_ = static_cast<uint32_t>(slots_.size());
    slots_.emplace_back();
  }
  const uint32_t index = free_;
  Slot& slot = slots_[index];
  free_ = slot.later;
  slot.request = request;
  slot.done = std::move(done);
  slot.arrived = engine_.now();
  slot.stage = Stage::Waiting;
  slot.is_charge = false;
  slot.earlier = slot.later = kNone;
  ++active_;
  return index;
}

void ApiServer::free_slot(uint32_t index) {
  Slot& slot = slots_[index];
  ++slot.generation;
  slot.stage = Stage::Free;
  slot.later = std::exchange(free_, index);
  --active_;
}

void ApiServer::unlink(uint32_t index) {
  Slot& slot = slots_[index];
  (slot.earlier == kNone ? oldest_ : slots_[slot.earlier].later) = slot.later;
  (slot.later == kNone ? newest_ : slots_[slot.later].earlier) = slot.earlier;
  slot.earlier = slot.later = kNone;
}

void ApiServer::submit(const ApiRequest& request, ApiDone done) {
  if (!is_up_) {
    statistics_.record(request.level, request.verb, ApiOutcome::ServerLost, {});
    return done({.outcome = ApiOutcome::ServerLost, .server = index_});
  }
  const uint32_t slot = take_slot(request, std::move(done));
  slots_[slot].earlier = std::exchange(newest_, slot);
  (slots_[slot].earlier == kNone ? oldest_ : slots_[slots_[slot].earlier].later) = slot;
  const PriorityAndFairness::Arrival arrival{.request = slot,
                                             .level = gate_of(params_.flow_control, request),
                                             .flow = request.flow,
                                             .width = width_of(request).seats};
  if (!flow_control_.arrive(arrival, engine_.now())) return reject(slot);
  drain();
  plan_wake();
}

// Executes the requests that flow control has started. Such a request may end at once and call
// drain() again. The inner call then returns, and the outer loop starts the next requests.
void ApiServer::drain() {
  if (is_draining_) return;
  is_draining_ = true;
  while (const auto slot = flow_control_.take_started()) begin(*slot);
  is_draining_ = false;
}

void ApiServer::begin(uint32_t slot) {
  const ApiRequest& request = slots_[slot].request;
  const Bytes listed = listed_by(request);
  slots_[slot].stage = Stage::Storing;
  slots_[slot].begun = engine_.now();
  listing_ = listing_ + listed;
  if (listed.count > 0 && params_.server.heap.limit && heap() > *params_.server.heap.limit) {
    ORRERY_MARK("control.api_out_of_memory");
    ++memory_kills_;
    lose();
    restart_ = engine_.after(params_.server.restart_time, Label{"control.api_restarted"},
                             [this] { recover(); });
    return;
  }
  if (!is_mutating(request.verb) && request.is_consistent) return ask_store(slot);
  compute(slot);
}

void ApiServer::compute(uint32_t slot) {
  const Duration demand = params_.server.cost.of(slots_[slot].request);
  slots_[slot].stage = Stage::Computing;
  if (demand.ns <= 0) return computed(slot);
  cpu_.add(slot, demand);
}

void ApiServer::computed(uint32_t slot) {
  if (is_mutating(slots_[slot].request.verb) && !slots_[slot].is_charge) return ask_store(slot);
  send(slot);
}

void ApiServer::ask_store(uint32_t slot) {
  slots_[slot].stage = Stage::Storing;
  const auto done = [this, asked = ticket(slot)](bool is_done) { stored(asked, is_done); };
  const ApiRequest request = slots_[slot].request;  // a copy, as slots_ may grow meanwhile
  const Time until = slots_[slot].arrived + params_.server.request_timeout;
  if (is_mutating(request.verb)) {
    store_.write(request, until, done);
  } else {
    store_.read(request, until, done);
  }
}

void ApiServer::stored(uint64_t ticket, bool is_done) {
  if (is_stale(ticket)) return;  // the request timed out, or its server was lost
  const auto slot = static_cast<uint32_t>(ticket);
  if (!is_done) return answer(slot, ApiOutcome::Refused);
  if (is_mutating(slots_[slot].request.verb)) return send(slot);
  compute(slot);
}

void ApiServer::send(uint32_t slot) {
  const Bytes size = slots_[slot].request.answer;
  slots_[slot].stage = Stage::Sending;
  if (size.count <= 0 || params_.server.egress.bits_per_s == 0) return sent(slot);
  egress_.add(slot, size / params_.server.egress);
}

void ApiServer::sent(uint32_t slot) {
  if (!slots_[slot].is_charge) return answer(slot, ApiOutcome::Done);
  const ApiDone done = std::exchange(slots_[slot].done, {});
  free_slot(slot);
  if (done) done({});
}

// Responds to a request that still holds its seats, but has released its core and its link.
void ApiServer::answer(uint32_t index, ApiOutcome outcome) {
  Slot& slot = slots_[index];
  const Time now = engine_.now();
  const ApiDone done = std::exchange(slot.done, {});
  statistics_.record(slot.request.level, slot.request.verb, outcome, now - slot.arrived);
  listing_ = listing_ - listed_by(slot.request);
  unlink(index);
  const Duration lingers = width_of(slot.request).lingers;
  const Time begun = slot.begun;
  if (outcome == ApiOutcome::Done && lingers.ns > 0) {
    slot.stage = Stage::Lingering;
    engine_.after(lingers, Label{"control.api_events_told"}, [this, lingering = ticket(index)] {
      if (is_stale(lingering)) return;
      flow_control_.finish(static_cast<uint32_t>(lingering), engine_.now());
      free_slot(static_cast<uint32_t>(lingering));
      drain();
      plan_wake();
    });
  } else {
    flow_control_.finish(index, now);
    free_slot(index);
  }
  done({.outcome = outcome, .server = index_, .as_of = begun});
  drain();
  plan_wake();
}

void ApiServer::stop_work(uint32_t slot) {
  if (slots_[slot].stage == Stage::Computing) cpu_.erase(slot);
  if (slots_[slot].stage == Stage::Sending) egress_.erase(slot);
}

// Responds 429 to a request that has never executed.
void ApiServer::reject(uint32_t index) {
  Slot& slot = slots_[index];
  const Time now = engine_.now();
  const ApiDone done = std::exchange(slot.done, {});
  const uint32_t level = slot.request.level;
  statistics_.record(level, slot.request.verb, ApiOutcome::TooManyRequests, now - slot.arrived);
  retry_after_[level].note_drop(now);
  unlink(index);
  free_slot(index);
  plan_wake();
  done({.outcome = ApiOutcome::TooManyRequests,
        .retry_after = retry_after_[level].value(),
        .server = index_});
}

void ApiServer::wake() {
  wake_time_ = Time::max();
  const Time now = engine_.now();
  flow_control_.advance(now);
  drain();
  while (oldest_ != kNone && slots_[oldest_].arrived + params_.server.request_timeout <= now) {
    const uint32_t slot = oldest_;
    if (slots_[slot].stage != Stage::Waiting) {
      stop_work(slot);
      answer(slot, ApiOutcome::TimedOut);
      continue;
    }
    flow_control_.abandon(slot, now);
    drain();  // the request may have blocked others, which may also be expired
    reject(slot);
  }
  while (const auto slot = flow_control_.take_expired(now)) reject(*slot);
  drain();
  plan_wake();
}

// Plans an event for the next deadline of flow control or of the oldest request. Without requests,
// no event is planned. When the deadline moves later, the planned event stays. It then finds
// nothing due, and plans the next event.
void ApiServer::plan_wake() {
  Time due = flow_control_.next_event();
  if (oldest_ != kNone) {
    due = std::min(due, slots_[oldest_].arrived + params_.server.request_timeout);
  } else if (wake_time_ != Time::max()) {
    engine_.cancel(wake_);
    wake_time_ = Time::max();
  }
  if (due >= wake_time_) return;
  engine_.cancel(wake_);
  wake_time_ = due;
  wake_ = engine_.at(due, Label{"control.api_deadline"}, [this] { wake(); });
}

void ApiServer::charge(const Charge& charge) {
  if (!is_up_) return;
  const int64_t threads = std::max(charge.threads, 1);
  ApiDone done;
  if (charge.done) done = [sent = charge.done](const ApiAnswer&) { sent(); };
  for (int64_t i = 0; i < threads; ++i) {  // the first thread gets the remainders, so it ends last
    const auto part = [&](int64_t all) { return all / threads + (i < all % threads ? 1 : 0); };
    const ApiRequest work{.answer = {part(charge.sent.count)}};
    const uint32_t slot = take_slot(work, std::exchange(done, {}));
    slots_[slot].is_charge = true;
    slots_[slot].stage = Stage::Computing;
    if (const Duration cpu{part(charge.cpu.ns)}; cpu.ns > 0) {
      cpu_.add(slot, cpu);
    } else {
      send(slot);
    }
  }
}

}  // namespace orrery
