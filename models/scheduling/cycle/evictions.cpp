#include "models/scheduling/cycle/evictions.hpp"

#include <utility>

#include "sim/core/check.hpp"

namespace orrery {

Evictions::Evictions(Sim sim, JobTable& jobs, JobController& controller,
                     const Placements& placements)
    : sim_{sim},
      jobs_{jobs},
      controller_{controller},
      placements_{placements},
      rows_{sim.recorder, "/events/preemptions",
            "Pods deleted by the scheduler to make room for other pods."} {}

Evictions::PodRecord& Evictions::record_of(PodId pod) {
  if (pod.index >= pods_.size()) pods_.resize(jobs_.pods_bound());
  return pods_[pod.index];
}

void Evictions::placed(PodId pod) { record_of(pod).leaves = false; }

void Evictions::forget(PodId pod) { record_of(pod) = {}; }

void Evictions::restart() {
  if (!orders_.empty()) ORRERY_MARK("scheduling.evictions_dropped");
  for (const EvictionOrder& order : orders_) {
    if (is_there(order)) record_of(order.victim).leaves = false;
  }
  victims_ -= orders_.size();
  orders_.clear();
  undated_ = 0;
  for (PodRecord& pod : pods_) pod.unanswered = 0;
  ++restarts_;
  if (std::exchange(awaited_, 0) > 0) resumed.emit();
}

void Evictions::evict(PodId preemptor, std::span<const PodId> victims, bool waits) {
  for (const PodId victim : victims) {
    // The victim may have lost its node already, when the reservation of another victim of its gang
    // was undone.
    if (!placements_.node_of(victim).is_valid() || record_of(victim).leaves) continue;
    ++victims_;
    record_of(victim).leaves = true;
    victim_waits.emit(victim);
    if (!placements_.node_of(victim).is_valid()) continue;
    ++record_of(preemptor).unanswered;
    if (waits) ++awaited_;
    ++undated_;
    const Job& by = jobs_.job(jobs_.pod(preemptor).job);
    orders_.push_back({.due = {},
                       .preemptor = preemptor,
                       .victim = victim,
                       .preemptor_life = life(preemptor),
                       .victim_life = life(victim),
                       .by_job = by.serial,
                       .by_rank = jobs_.pod(preemptor).rank,
                       .by_priority = jobs_.spec(preemptor).priority,
                       .by_job_priority = by.priority,
                       .waits = waits,
                       .restart = restarts_});
  }
}

void Evictions::carry_out(Time when) {
  if (undated_ == 0) return;
  for (; undated_ > 0; --undated_) orders_[orders_.size() - undated_].due = when;
  sim_.engine.at(
      when, Label{"scheduling.preempt"}, [this] { carry_out_due(); }, Phase::Control);
}

bool Evictions::is_there(const EvictionOrder& order) const {
  return life(order.victim) == order.victim_life && placements_.node_of(order.victim).is_valid();
}

void Evictions::carry_out_due() {
  const Time now = sim_.engine.now();
  while (orders_.size() > undated_ && orders_.front().due <= now) {
    const EvictionOrder order = orders_.front();
    orders_.pop_front();
    if (!is_there(order)) {
      ORRERY_MARK("scheduling.victim_gone_already");
      answered(order);
    } else if (api_ == nullptr) {
      preempt(order);
      answered(order);
    } else {
      ++asked_;
      api_->evict(order.victim, [this, order](PodApi::Creation news) { answered(order, news); });
    }
  }
}

void Evictions::answered(const EvictionOrder& order, PodApi::Creation news) {
  if (news != PodApi::Creation::Answered) --asked_;
  if (news == PodApi::Creation::Answered) return answered(order);
  if (!is_there(order)) return;
  if (news == PodApi::Creation::Known) return preempt(order);
  ORRERY_MARK("scheduling.preemption_refused");
  record_of(order.victim).leaves = false;
  const bool is_same = life(order.preemptor) == order.preemptor_life && order.restart == restarts_;
  refused.emit(order.victim, is_same ? order.preemptor : PodId{});
}

// The victim may have ended already, because the scheduler may choose a victim before it observes
// the victim's end.
void Evictions::preempt(const EvictionOrder& order) {
  const PodState state = jobs_.pod(order.victim).state;
  if (state == PodState::Absent || state == PodState::Done) {
    ORRERY_MARK("scheduling.victim_not_found");
    --victims_;
    return;
  }
  write(order);
  controller_.preempt(order.victim, order.by_job_priority);
}

void Evictions::answered(const EvictionOrder& order) {
  if (order.restart != restarts_) return;
  if (order.waits && --awaited_ == 0) resumed.emit();
  PodRecord& preemptor = record_of(order.preemptor);
  if (life(order.preemptor) != order.preemptor_life || preemptor.unanswered == 0) return;
  if (--preemptor.unanswered == 0) made_room.emit(order.preemptor);
}

void Evictions::write(const EvictionOrder& order) {
  if (!rows_.is_on()) return;
  const Pod& pod = jobs_.pod(order.victim);
  rows_.emit({.at = sim_.engine.now(),
              .node = placements_.node_of(order.victim),
              .job = jobs_.job(pod.job).serial,
              .rank = pod.rank,
              .priority = jobs_.spec(order.victim).priority,
              .by_job = order.by_job,
              .by_rank = order.by_rank,
              .by_priority = order.by_priority});
}

}  // namespace orrery
