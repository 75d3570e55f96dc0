#include "models/control_plane/services/endpoints_controller.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "models/control_plane/base/backoff.hpp"
#include "sim/core/check.hpp"

namespace orrery {
namespace {

using Kind = ObjectWrite::Change;

// As upstream, a controller retries 15 times, with a backoff from 5 ms (Endpoints) or 1 s (slices).
// The garbage collector, which deletes the objects of a removed service, retries for ever.
constexpr int32_t kRetriesMax = 15;
constexpr Backoff endpoints_backoff(EndpointsKind kind) {
  return {.first = kind == EndpointsKind::Endpoints ? 5_ms : 1_s, .max = 1000_s};
}

// Merges a rejected write with the next write of the same object. Returns nothing if the two writes
// cancel out.
std::optional<ObjectWrite> joined(const ObjectWrite& refused, ObjectWrite next) {
  next.addresses_before = refused.addresses_before;
  next.bytes_before = refused.bytes_before;
  const bool was_there = refused.change != Kind::Create;
  if (next.change == Kind::Delete) {
    if (!was_there) return std::nullopt;
    next.addresses = next.addresses_before;
    next.bytes = next.bytes_before;
  } else {
    next.change = was_there ? Kind::Update : Kind::Create;
  }
  return next;
}

}  // namespace

EndpointsController::EndpointsController(Engine& engine, const EndpointsParams& params,
                                         Writer writer)
    : engine_{engine}, params_{params}, writer_{std::move(writer)} {}

ServiceId EndpointsController::add_service() {
  if (free_.empty()) return services_.push_back(Service{params_});
  const ServiceId id = free_.back();
  free_.pop_back();
  services_[id] = Service{params_};
  return id;
}

void EndpointsController::remove_service(ServiceId id) {
  Service& service = services_[id];
  ORRERY_CHECK(!service.is_removed, "a service is removed once");
  service.is_removed = true;
  service.changes.clear();
  if (!service.is_planned && service.unanswered == 0) plan(id, {});
}

std::span<const ObjectWrite> EndpointsController::preload(ServiceId service,
                                                          std::span<const uint32_t> pods) {
  return services_[service].endpoints.sync({}, pods);
}

void EndpointsController::change(ServiceId id, uint32_t pod, bool is_ready) {
  Service& service = services_[id];
  ORRERY_CHECK(!service.is_removed, "a removed service gets no changes");
  ++counters_.changes;
  service.changes.push_back({pod, is_ready});
  if (!service.is_planned && service.unanswered == 0) plan(id, params_.batch_period);
}

void EndpointsController::plan(ServiceId id, Duration wait) {
  services_[id].is_planned = true;
  engine_.after(
      wait, Label{"endpoints.batch_over"},
      [this, id] {
        ready_.push_back(id);
        start_passes();
      },
      Phase::Control);
}

// If a writer responds at once, answered() calls start_passes() during the loop. The inner call
// returns at once, and the outer loop continues.
void EndpointsController::start_passes() {
  if (std::exchange(is_starting_, true)) return;
  while (!ready_.empty() && busy_ < params_.syncs) {
    const ServiceId id = ready_.front();
    ready_.pop_front();
    pass(id);
  }
  is_starting_ = false;
}

// Takes the last change of each pod, drops changes without effect, and returns the writes for all
// other changes. For a removed service, returns the deletions of its objects.
std::span<const ObjectWrite> EndpointsController::take_changes(Service& service) {
  std::vector<Change> changes = std::exchange(service.changes, {});
  if (service.is_removed) return service.endpoints.clear();
  std::ranges::stable_sort(changes, {}, &Change::pod);
  removed_.clear();
  added_.clear();
  for (size_t i = 0; i < changes.size(); ++i) {
    if (i + 1 < changes.size() && changes[i + 1].pod == changes[i].pod) continue;
    const bool had = service.endpoints.has(changes[i].pod);
    if (changes[i].is_ready && !had) added_.push_back(changes[i].pod);
    if (!changes[i].is_ready && had) removed_.push_back(changes[i].pod);
  }
  return service.endpoints.sync(removed_, added_);
}

void EndpointsController::pass(ServiceId id) {
  Service& service = services_[id];
  service.is_planned = false;
  engine_.cancel(service.retry);
  ++counters_.passes;
  const std::span<const ObjectWrite> span = take_changes(service);
  std::vector<ObjectWrite> writes;  // a copy, because the writer may call back
  const std::vector<ObjectWrite> refused = std::exchange(service.refused, {});
  const auto of = [](uint32_t object) {
    return [object](const ObjectWrite& write) { return write.object == object; };
  };
  for (const ObjectWrite& write : refused) {
    if (std::ranges::none_of(span, of(write.object))) writes.push_back(write);
  }
  for (const ObjectWrite& write : span) {
    const auto before = std::ranges::find_if(refused, of(write.object));
    const auto one = before == refused.end() ? write : joined(*before, write);
    if (one) writes.push_back(*one);
  }
  if (writes.empty()) return pass_over(id);
  service.unanswered = writes.size();
  ++busy_;
  counters_.writes += writes.size();
  for (const ObjectWrite& write : writes) {
    writer_(id, write, [this, id, write](bool is_stored) { answered(id, write, is_stored); });
  }
}

void EndpointsController::answered(ServiceId id, const ObjectWrite& write, bool is_stored) {
  Service& service = services_[id];
  ORRERY_CHECK(service.unanswered > 0, "each write has one response");
  if (!is_stored) {
    ++counters_.refused;
    service.refused.push_back(write);
  }
  if (--service.unanswered > 0) return;
  --busy_;
  pass_over(id);
  start_passes();
}

void EndpointsController::pass_over(ServiceId id) {
  Service& service = services_[id];
  if (service.refused.empty()) {
    service.tries = 0;
  } else {
    try_again_later(id);
  }
  if (service.is_removed) {
    if (service.endpoints.objects() > 0) return plan(id, {});  // removed during the pass
    if (service.refused.empty()) free_.push_back(id);
    return;
  }
  if (!service.changes.empty() && !service.is_planned) plan(id, params_.batch_period);
}

void EndpointsController::try_again_later(ServiceId id) {
  Service& service = services_[id];
  service.tries = std::min(service.tries + 1, kRetriesMax + 1);
  if (service.tries > kRetriesMax && !service.is_removed) {
    ORRERY_MARK("endpoints.gave_up");
    ++counters_.given_up;
    service.tries = 0;
    return;
  }
  const Duration pause = endpoints_backoff(params_.kind).after(service.tries);
  service.retry = engine_.after(
      pause, Label{"endpoints.tries_again"},
      [this, id] {
        Service& again = services_[id];
        if (again.is_planned || again.unanswered > 0) return;
        again.is_planned = true;
        ready_.push_back(id);
        start_passes();
      },
      Phase::Control);
}

}  // namespace orrery
