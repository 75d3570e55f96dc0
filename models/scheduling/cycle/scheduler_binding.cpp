#include <algorithm>

#include "models/scheduling/cycle/scheduler.hpp"
#include "sim/core/check.hpp"

namespace orrery {

void Scheduler::to_binding(PodId pod, Duration after) {
  if (is_running_) {
    to_bind_.push_back({pod, after});
    return;
  }
  binding_.push_back({std::max(now(), busy_until_) + cost_.bind, pod, track(pod).reservation});
  bind_due();
}

void Scheduler::bind_due() {
  while (!binding_.empty() && binding_.front().due <= now()) {
    const Binding next = binding_.front();
    binding_.pop_front();
    const PodTrack& t = track(next.pod);
    if (t.stage == Stage::Binding && t.reservation == next.reservation) bind(next.pod);
  }
  if (binding_.empty() || sim_.engine.is_pending(bind_event_)) return;
  bind_event_ = sim_.engine.at(
      binding_.front().due, Label{"scheduling.bind"}, [this] { bind_due(); }, Phase::Control);
}

void Scheduler::bind(PodId pod) {
  const PodView view = this->pod(pod);
  PodTrack& t = track(pod);
  Status status;
  for (const auto& p : framework_->pre_bind()) {
    current_plugin_ = p.index;
    status = p.call(&PreBind::pre_bind, view, t.node);
    if (!status.ok()) break;
  }
  if (status.ok()) {
    for (const auto& b : framework_->bind()) {
      current_plugin_ = b.index;
      status = b.call(&Bind::bind, view, t.node);
      if (status.code != Code::Skip) break;
    }
    if (status.code == Code::Skip) status = {};  // the framework binds it itself
  }
  if (!status.ok()) return bind_failed(pod, status.reason);
  if (api_ == nullptr) return bound(pod);
  // Until it is written the pod is assumed on its node, unless that goes down or the pod is gone.
  api_->bind(pod, t.node, [this, pod, reservation = t.reservation](bool is_done) {
    const PodTrack& now_is = track(pod);
    if (now_is.stage != Stage::Binding || now_is.reservation != reservation) return;
    is_done ? bound(pod) : bind_failed(pod, "the API servers did not answer");
  });
}

// After Permit a failure is an Error: nobody is blamed.
void Scheduler::bind_failed(PodId pod, std::string_view reason) {
  ORRERY_MARK("scheduling.bind_failed");
  unassume(pod, reason, AttemptOutcome::Error);
  requeue(pod, 0);
  kick();
}

void Scheduler::bound(PodId pod) {
  const PodView view = this->pod(pod);
  PodTrack& t = track(pod);
  Pod& p = jobs_.pod(pod);
  t.stage = Stage::Bound;
  assumed_[t.assumed_slot] = assumed_.back();
  track(assumed_.back()).assumed_slot = t.assumed_slot;
  assumed_.pop_back();
  p.node = t.node;
  p.grant = t.grant;
  ++counters_.pods_scheduled;
  attempts_in_vain_ = 0;
  --pending_pods_;
  if (p.gang.is_valid()) {
    GangTrack& gang = track(p.gang);
    --gang.assumed;
    if (--gang.pending == 0) --pending_gangs_;
  }
  const NodeId node = t.node;
  controller_.pod_bound(pod);
  for (const auto& post : framework_->post_bind()) post.call(&PostBind::post_bind, view, node);
}

}  // namespace orrery
