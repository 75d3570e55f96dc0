// models/control_plane/api_server/api_server_state.cpp -- loss and recovery of a server; steady
// load.
#include <algorithm>
#include <utility>

#include "models/control_plane/api_server/api_server.hpp"
#include "models/control_plane/flow_control/flow_schemas.hpp"
#include "sim/core/check.hpp"

namespace orrery {
namespace {

// Steady load takes capacity from other requests, but at least a twentieth is left for them.
constexpr double kLeftMin = 0.05;

}  // namespace

void ApiServer::lose() {
  engine_.cancel(restart_);
  if (!is_up_) return;
  is_up_ = false;
  ++losses_;
  const Time now = engine_.now();
  std::vector<ApiDone> lost_ones;
  for (uint32_t slot = oldest_; slot != kNone; slot = slots_[slot].later) {
    const ApiRequest& request = slots_[slot].request;
    statistics_.record(request.level, request.verb, ApiOutcome::ServerLost,
                       now - slots_[slot].arrived);
    lost_ones.push_back(std::exchange(slots_[slot].done, {}));
  }
  cpu_.clear();
  egress_.clear();
  flow_control_.reset(now);
  oldest_ = newest_ = kNone;
  for (uint32_t slot = 0; slot < slots_.size(); ++slot) {
    if (slots_[slot].stage != Stage::Free) free_slot(slot);
  }
  watchers_ = {};
  all_watchers_ = 0;
  listing_ = {};
  plan_wake();
  for (const ApiDone& done : lost_ones) done({.outcome = ApiOutcome::ServerLost, .server = index_});
  lost.emit();
}

void ApiServer::recover() {
  ORRERY_CHECK(!is_up_, "a server recovers only from a loss");
  engine_.cancel(restart_);
  is_up_ = true;
  recovered.emit();
}

void ApiServer::set_steady(uint32_t level, const SteadyLoad& load) {
  steady_[level] = load;
  const uint32_t gate = gate_of(params_.flow_control, {.level = static_cast<uint8_t>(level)});
  double seats = 0, link = 0;
  steady_cores_ = steady_requests_ = 0;
  for (uint32_t l = 0; l < steady_.size(); ++l) {
    const SteadyLoad& s = steady_[l];
    steady_cores_ += s.requests_per_s * s.cpu.seconds();
    steady_requests_ += s.requests_per_s;
    link += s.requests_per_s * static_cast<double>(s.sent.count) * 8;
    if (gate_of(params_.flow_control, {.level = static_cast<uint8_t>(l)}) == gate) {
      seats += s.requests_per_s * s.held.seconds();
    }
  }
  flow_control_.set_background(gate, seats, engine_.now());
  const double cores = params_.server.cores;
  cpu_.set_cores(std::max(cores - steady_cores_, kLeftMin * cores));
  if (params_.server.egress.bits_per_s > 0) {
    const double part = link / static_cast<double>(params_.server.egress.bits_per_s);
    egress_.set_cores(std::max(1 - part, kLeftMin));
  }
  drain();
}

void ApiServer::audit() const {
  uint32_t linked = 0;
  for (uint32_t slot = oldest_; slot != kNone; slot = slots_[slot].later) ++linked;
  uint32_t busy = 0, answered = 0;
  for (const Slot& slot : slots_) {
    busy += slot.stage != Stage::Free ? 1 : 0;
    answered +=
        slot.stage == Stage::Lingering || (slot.stage != Stage::Free && slot.is_charge) ? 1 : 0;
  }
  ORRERY_CHECK(busy == active_ && linked + answered == busy, "every request is counted once");
  flow_control_.audit();
}

}  // namespace orrery
