#include "models/scheduling/cycle/reservations.hpp"

#include <algorithm>

#include "sim/core/check.hpp"

namespace orrery {

void Reservations::reserve(PodId pod, NodeId node, DeviceGrant grant) {
  const PodView view = context_.tracks.pod(pod);
  context_.transaction.place(view, node, grant, context_.sim.engine.now());
  PodTrack& t = context_.tracks.of(pod);
  t.stage = PodStage::Binding;
  t.reservation = ++last_reservation_;
  t.assumed_slot = static_cast<uint32_t>(assumed_.size());
  assumed_.push_back(pod);
  context_.preemptions.clear(pod);
  context_.evictions.placed(pod);
  if (view.gang.is_valid()) ++context_.tracks.of(view.gang).assumed;
  context_.news.pod_assigned.emit(pod, node);
  context_.line.post({ClusterEventKind::AssignedPodAdded, node, view.spec_id, view.gang, pod});
}

void Reservations::remove(PodId pod) {
  PodTrack& t = context_.tracks.of(pod);
  assumed_[t.assumed_slot] = assumed_.back();
  context_.tracks.of(assumed_.back()).assumed_slot = t.assumed_slot;
  assumed_.pop_back();
  const GangId gang = context_.jobs.pod(pod).gang;
  if (gang.is_valid()) --context_.tracks.of(gang).assumed;
}

void Reservations::undo(PodId pod, std::string_view reason, std::optional<AttemptOutcome> outcome) {
  PodTrack& t = context_.tracks.of(pod);
  const PodView view = context_.tracks.pod(pod);
  const NodeId node = context_.placements.node_of(pod);
  if (t.stage == PodStage::Waiting) stop_waiting(pod);
  t.reservation = 0;  // the binder drops bindings of the pod that become due during Unreserve
  context_.profile.framework->run_unreserve(view, node);
  context_.tracks.of(pod).stage = PodStage::Queued;
  remove(pod);
  context_.transaction.evict(view);
  context_.news.pod_unassigned.emit(pod, node);
  context_.line.post({ClusterEventKind::AssignedPodDeleted, node, view.spec_id, view.gang, pod});
  if (outcome) context_.log.write(pod, *outcome, {}, reason);
}

void Reservations::bound(PodId pod) {
  context_.tracks.of(pod).stage = PodStage::Bound;
  remove(pod);
}

void Reservations::node_failed(NodeId node) {
  for (size_t i = assumed_.size(); i-- > 0;) {
    const PodId pod = assumed_[i];
    if (context_.placements.node_of(pod) != node) continue;
    ORRERY_MARK("scheduling.reserved_node_failed");
    undo(pod, "node failed before the pod was bound", AttemptOutcome::Error);
    requeue(pod, 0);
    i = assumed_.size();  // starts over: Unreserve may have undone other reservations
  }
}

void Reservations::undo_all(std::string_view reason) {
  while (!assumed_.empty()) undo(assumed_.back(), reason, AttemptOutcome::Error);
}

int64_t Reservations::gpu_milli() const {
  int64_t milli = 0;
  for (const PodId pod : assumed_) milli += context_.jobs.request(pod).resources[Resource::Gpu];
  return milli;
}

// ---- Permit

void Reservations::wait(PodId pod, uint32_t plugins, Duration timeout) {
  PodTrack& t = context_.tracks.of(pod);
  t.stage = PodStage::Waiting;
  t.waits_for = plugins;
  ++context_.tracks.pods_waiting;
  const GangId gang = context_.jobs.pod(pod).gang;
  if (gang.is_valid()) context_.tracks.of(gang).waiting.push_back(pod);
  t.timeout = context_.sim.engine.after(
      timeout, Label{"scheduling.permit_timeout"},
      [this, pod] {
        ORRERY_MARK("scheduling.permit_timeout");
        reject(pod, "timed out waiting in Permit", AttemptOutcome::TimedOut);
        timed_out.emit();
      },
      Phase::Control);
}

void Reservations::stop_waiting(PodId pod) {
  PodTrack& t = context_.tracks.of(pod);
  context_.sim.engine.cancel(t.timeout);
  t.waits_for = 0;
  t.stage = PodStage::Binding;
  --context_.tracks.pods_waiting;
  const GangId gang = context_.jobs.pod(pod).gang;
  if (!gang.is_valid()) return;
  auto& waiting = context_.tracks.of(gang).waiting;
  // The member that stops waiting is usually the first or the last one.
  if (!waiting.empty() && waiting.back() == pod)
    waiting.pop_back();
  else
    std::erase(waiting, pod);
}

void Reservations::allow(PodId pod, uint8_t plugin) {
  PodTrack& t = context_.tracks.of(pod);
  if (t.stage != PodStage::Waiting) return;
  t.waits_for &= ~(uint32_t{1} << plugin);
  if (t.waits_for != 0) return;
  stop_waiting(pod);
  permitted.emit(pod);
}

void Reservations::reject(PodId pod, std::string_view reason, AttemptOutcome outcome) {
  const PodTrack& t = context_.tracks.of(pod);
  if (t.stage != PodStage::Waiting) return;
  const uint32_t plugins = t.waits_for;
  undo(pod, reason, outcome);
  requeue(pod, plugins);
  context_.news.no_node_found.emit(context_.line.unit_of(pod));
}

void Reservations::reject_gang(GangId gang, std::string_view reason) {
  const auto waiting = context_.tracks.waiting(gang);
  if (waiting.empty()) return;
  const std::vector<PodId> pods{waiting.begin(), waiting.end()};
  for (const PodId pod : pods) reject(pod, reason, AttemptOutcome::Rejected);
}

void Reservations::requeue(PodId pod, uint32_t plugins) {
  context_.line.requeue(pod, plugins);
  if (api_ != nullptr) api_->scheduling_failed(pod);
}

}  // namespace orrery
