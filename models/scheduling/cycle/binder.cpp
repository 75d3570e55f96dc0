#include "models/scheduling/cycle/binder.hpp"

#include <algorithm>
#include <string>

#include "sim/core/check.hpp"

namespace orrery {

void Binder::add(PodId pod, Duration after) {
  if (is_cycle_running_) {
    of_cycle_.push_back({pod, after});
    return;
  }
  push(std::max(context_.sim.engine.now(), busy_until_), pod);
  bind_due();
}

void Binder::cycle_ends(Time began, Time ends) {
  is_cycle_running_ = false;
  busy_until_ = ends;
  for (const auto& [pod, after] : of_cycle_) {
    push(after == Duration::max() ? ends : began + after, pod);
  }
  of_cycle_.clear();
  bind_due();
}

void Binder::push(Time due, PodId pod) {
  binding_.push_back({due + context_.profile.cost.bind, pod, context_.tracks.of(pod).reservation});
}

void Binder::bind_due() {
  while (!binding_.empty() && binding_.front().due <= context_.sim.engine.now()) {
    const DueBinding next = binding_.front();
    binding_.pop_front();
    const PodTrack& t = context_.tracks.of(next.pod);
    if (t.stage == PodStage::Binding && t.reservation == next.reservation) bind(next.pod);
  }
  if (binding_.empty() || context_.sim.engine.is_pending(event_)) return;
  event_ = context_.sim.engine.at(
      binding_.front().due, Label{"scheduling.bind"}, [this] { bind_due(); }, Phase::Control);
}

void Binder::bind(PodId pod) {
  const PodView view = context_.tracks.pod(pod);
  const NodeId node = context_.placements.node_of(pod);
  Framework& framework = *context_.profile.framework;
  Verdict verdict = framework.run_pre_bind(view, node);
  if (verdict.ok()) verdict = framework.run_bind(view, node);
  if (!verdict.ok()) return bind_failed(pod, verdict.reason);
  if (api_ == nullptr) return is_bound(pod);
  // Until the kubelet has observed the binding, the pod only has a reservation. Meanwhile the node
  // may fail, or the pod may be deleted.
  const uint64_t reservation = context_.tracks.of(pod).reservation;
  api_->bind(pod, node, [this, pod, reservation](bool is_done) {
    const PodTrack& now_is = context_.tracks.of(pod);
    if (now_is.stage != PodStage::Binding || now_is.reservation != reservation) return;
    is_done ? is_bound(pod) : bind_failed(pod, "the API servers did not answer");
  });
}

// A failure after Permit is an Error: the pod is retried after a backoff, without waiting for an
// event.
void Binder::bind_failed(PodId pod, std::string_view reason) {
  ORRERY_MARK("scheduling.bind_failed");
  context_.reservations.undo(pod, reason, AttemptOutcome::Error);
  context_.reservations.requeue(pod, 0);
  failed.emit();
}

void Binder::is_bound(PodId pod) {
  const PodView view = context_.tracks.pod(pod);
  const Placed& placed = context_.placements.of(pod);
  Pod& p = context_.jobs.pod(pod);
  p.node = placed.node;
  p.grant = placed.grant;
  context_.reservations.bound(pod);
  context_.tracks.no_longer_pending(pod);
  bound.emit(pod);
  const NodeId node = placed.node;
  context_.controller.pod_bound(pod);
  context_.profile.framework->run_post_bind(view, node);
}

}  // namespace orrery
