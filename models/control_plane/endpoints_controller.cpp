#include "models/control_plane/endpoints_controller.hpp"

#include <algorithm>
#include <utility>

#include "sim/core/check.hpp"

namespace orrery {

EndpointsController::EndpointsController(Engine& engine, const EndpointsParams& params,
                                         Writer writer)
    : engine_{engine}, params_{params}, writer_{std::move(writer)} {}

ServiceId EndpointsController::add_service() { return services_.push_back(Service{params_}); }

void EndpointsController::preload(ServiceId service, std::span<const uint32_t> pods) {
  services_[service].endpoints.sync({}, pods);
}

void EndpointsController::change(ServiceId id, uint32_t pod, bool is_ready) {
  ++counters_.changes;
  Service& service = services_[id];
  service.changes.push_back({pod, is_ready});
  if (!service.is_planned && service.unanswered == 0) plan(id);
}

void EndpointsController::plan(ServiceId id) {
  services_[id].is_planned = true;
  engine_.after(
      params_.batch_period, Label{"endpoints.batch_over"},
      [this, id] {
        ready_.push_back(id);
        start_passes();
      },
      Phase::Control);
}

// A writer may answer at once, and lead back here: the outer call goes on then.
void EndpointsController::start_passes() {
  if (std::exchange(is_starting_, true)) return;
  while (!ready_.empty() && busy_ < params_.syncs) {
    const ServiceId id = ready_.front();
    ready_.pop_front();
    pass(id);
  }
  is_starting_ = false;
}

// The last word on each pod counts, if it differs from what is written.
void EndpointsController::pass(ServiceId id) {
  Service& service = services_[id];
  service.is_planned = false;
  ++counters_.passes;
  std::vector<Change> changes = std::exchange(service.changes, {});
  std::ranges::stable_sort(changes, {}, &Change::pod);
  removed_.clear();
  added_.clear();
  for (size_t i = 0; i < changes.size(); ++i) {
    if (i + 1 < changes.size() && changes[i + 1].pod == changes[i].pod) continue;
    const bool had = service.endpoints.has(changes[i].pod);
    if (changes[i].is_ready && !had) added_.push_back(changes[i].pod);
    if (!changes[i].is_ready && had) removed_.push_back(changes[i].pod);
  }
  const std::span<const ObjectWrite> span = service.endpoints.sync(removed_, added_);
  if (span.empty()) return;
  const std::vector<ObjectWrite> writes{span.begin(), span.end()};  // the writer may come back
  service.unanswered = writes.size();
  ++busy_;
  counters_.writes += writes.size();
  for (const ObjectWrite& write : writes) writer_(id, write, [this, id] { answered(id); });
}

void EndpointsController::answered(ServiceId id) {
  Service& service = services_[id];
  ORRERY_CHECK(service.unanswered > 0, "a write is answered once");
  if (--service.unanswered > 0) return;
  --busy_;
  if (!service.changes.empty() && !service.is_planned) plan(id);
  start_passes();
}

}  // namespace orrery
