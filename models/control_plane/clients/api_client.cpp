#include "models/control_plane/clients/api_client.hpp"

#include <utility>

#include "models/control_plane/base/backoff.hpp"

namespace orrery {

ApiClient::ApiClient(Engine& engine, ApiServers& servers, const ApiClientParams& params,
                     const Setup& setup, Rng& rng)
    : engine_{engine},
      servers_{servers},
      params_{params},
      rng_{rng},
      user_{setup.kind, setup.user},
      connection_{servers.connect()},
      classes_{classify_all(servers.params().flow_control, setup.kind)},
      tokens_{params.qps, params.burst} {}

void ApiClient::send(ApiRequest request, ApiDone done) {
  const FlowClass& flow_class = classes_[static_cast<size_t>(request.resource)];
  request.level = flow_class.level;
  request.flow = flow_of(flow_class, user_, request.name_space);
  if (free_ == kNone) {
    free_ = static_cast<uint32_t>(calls_.size());
    calls_.emplace_back();
  }
  const uint32_t index = free_;
  Call& call = calls_[index];
  free_ = call.next;
  call.request = request;
  call.done = std::move(done);
  call.backoff = {};
  call.tries = 0;
  ++present_;
  ++counters_.sent;
  take_token(index);
}

// Waiting requests get their tokens in order, so one pending event, for the first request, is
// enough.
void ApiClient::take_token(uint32_t index) {
  const Time now = engine_.now();
  Call& call = calls_[index];
  call.next = kNone;
  call.due = tokens_.reserve(now);
  counters_.throttled += call.due - now;
  if (first_ == kNone && call.due == now) return submit(index);
  const uint32_t before = std::exchange(last_, index);
  if (before == kNone) {
    first_ = index;
    plan();
  } else {
    calls_[before].next = index;
  }
}

void ApiClient::plan() {
  engine_.at(calls_[first_].due, Label{"control.client_sends"}, [this] { submit_due(); });
}

// Removes the first request from the list before submitting it, because the response may come at
// once, and the caller may then send another request.
void ApiClient::submit_due() {
  const uint32_t index = first_;
  first_ = calls_[index].next;
  if (first_ == kNone) {
    last_ = kNone;
  } else {
    plan();
  }
  submit(index);
}

void ApiClient::submit(uint32_t index) {
  ++calls_[index].tries;
  ++counters_.tried;
  const ApiRequest request = calls_[index].request;
  servers_.submit(connection_, request,
                  [this, index](const ApiAnswer& answer) { answered(index, answer); });
}

void ApiClient::answered(uint32_t index, const ApiAnswer& answer) {
  Call& call = calls_[index];
  const bool is_turned_away = answer.outcome == ApiOutcome::TooManyRequests;
  const bool is_lost = answer.outcome == ApiOutcome::ServerLost;
  if ((is_turned_away || is_lost) && call.tries < params_.tries_max) {
    Duration wait = answer.retry_after;
    if (is_lost) {
      call.backoff = Backoff{params_.backoff, params_.backoff_max}.next(call.backoff);
      wait = jittered(call.backoff, rng_);
    }
    engine_.after(wait, Label{"control.client_tries_again"}, [this, index] { take_token(index); });
    return;
  }
  const ApiDone done = std::exchange(call.done, {});
  call.next = std::exchange(free_, index);
  --present_;
  ++counters_.answered;
  counters_.given_up += is_turned_away || is_lost ? 1 : 0;
  done(answer);
}

}  // namespace orrery
