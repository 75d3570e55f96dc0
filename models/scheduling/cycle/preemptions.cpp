#include "models/scheduling/cycle/preemptions.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "sim/core/check.hpp"

namespace orrery {

// Takes place in the cluster state and in the plug-ins that count pods, and is undone there.
class Preemptions::Trial final : public WhatIf {
 public:
  Trial(Preemptions& owner, const Cycle& cycle) : owner_{owner}, cycle_{cycle} {
    owner_.context_.cluster.hypothesise(true);
  }
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;
  ~Trial() override {
    if (std::uncaught_exceptions() > 0) return;  // nothing that fails here could be told any more
    while (!out_.empty()) restore(out_.back());
    owner_.context_.cluster.hypothesise(false);
    owner_.context_.transaction.commit();  // all of it is undone
  }

  void evict(PodId pod) override {
    Placed& placed = owner_.track(pod);
    ORRERY_CHECK(placed.node.is_valid() && !is_out(placed, pod), "only a placed pod is evicted");
    placed.out_slot = static_cast<uint32_t>(out_.size());
    owner_.context_.transaction.evict(placed.node, owner_.context_.jobs.request(pod), placed.grant);
    for (const auto& p : owner_.framework_->pre_filter_extensions()) {
      p.call(&PreFilterExtensions::remove_pod, owner_.context_.handle.pod(pod));
    }
    out_.push_back(pod);
  }
  void restore(PodId pod) override {
    const Placed& placed = owner_.track(pod);
    ORRERY_CHECK(is_out(placed, pod), "only an evicted pod is restored");
    owner_.pods_[out_.back().index].out_slot = placed.out_slot;
    out_[placed.out_slot] = out_.back();
    out_.pop_back();
    owner_.context_.transaction.place(placed.node, owner_.context_.jobs.request(pod), placed.grant);
    for (const auto& p : owner_.framework_->pre_filter_extensions()) {
      p.call(&PreFilterExtensions::add_pod, owner_.context_.handle.pod(pod), placed.node);
    }
  }
  const NodeSet& feasible(const NodeSet& nodes) override {
    return owner_.framework_->feasible(cycle_, nodes);
  }
  bool is_node_local() const override { return owner_.framework_->decides_node_by_node(); }

 private:
  // A slot may be of an earlier trial, and so of another pod, or of none. A search would take too
  // long: a trial may evict all pods of a cluster.
  bool is_out(const Placed& placed, PodId pod) const {
    return placed.out_slot < out_.size() && out_[placed.out_slot] == pod;
  }

  Preemptions& owner_;
  const Cycle& cycle_;
  std::vector<PodId> out_;
};

Preemptions::Preemptions(const Context& context)
    : context_{context},
      on_nodes_{context.cluster.nodes()},
      lowest_(context.cluster.nodes(), kNobody),
      nominations_{context.cluster.nodes()},
      rows_{context.sim.recorder, "/events/preemptions",
            "Pods deleted by the scheduler to make room for others."} {}

void Preemptions::use(Framework& framework) {
  framework_ = &framework;
  framework.heed(nominations_);
}

Preemptions::Placed& Preemptions::track(PodId pod) {
  if (pod.index >= pods_.size()) {
    ORRERY_CHECK(pod.index < context_.jobs.pods_bound(), "there is such a pod");
    pods_.resize(context_.jobs.pods_bound());
    on_nodes_.grow(pods_.size());
  }
  return pods_[pod.index];
}

// ---- who is where

void Preemptions::placed(PodId pod, NodeId node, DeviceGrant grant) {
  Placed& p = track(pod);
  p.node = node;
  p.grant = grant;
  p.since = context_.sim.engine.now();
  p.is_leaving = false;
  on_nodes_.add(node, pod);
  int32_t& lowest = lowest_[node.index];
  lowest = std::min(lowest, context_.jobs.spec(pod).priority);
  ++of_priority_[context_.jobs.spec(pod).priority];
  nominations_.clear(pod);
}

void Preemptions::left(PodId pod) {
  Placed& p = track(pod);
  if (!p.node.is_valid()) return;
  on_nodes_.remove(p.node, pod);
  if (context_.jobs.spec(pod).priority == lowest_[p.node.index]) find_lowest(p.node);
  p.node = {};
  p.is_leaving = false;
  const auto count = of_priority_.find(context_.jobs.spec(pod).priority);
  if (--count->second == 0) of_priority_.erase(count);
}

void Preemptions::find_lowest(NodeId node) {
  there_.clear();
  on_nodes_.collect(node, there_);
  int32_t lowest = kNobody;
  for (const PodId pod : there_) lowest = std::min(lowest, context_.jobs.spec(pod).priority);
  lowest_[node.index] = lowest;
}

void Preemptions::forget(PodId pod) {
  left(pod);
  pods_[pod.index].unanswered = 0;
  nominations_.clear(pod);
}

void Preemptions::forget_nominations() {
  nominations_ = Nominations{context_.cluster.nodes()};
  for (Placed& p : pods_) p.unanswered = 0;
}

bool Preemptions::is_above_any(int32_t priority) const {
  return !of_priority_.empty() && of_priority_.begin()->first < priority;
}

void Preemptions::placed_on(NodeId node, std::vector<PlacedPod>& pods) const {
  ORRERY_CHECK(node.index < context_.cluster.nodes(), "there is such a node");
  there_.clear();
  on_nodes_.collect(node, there_);
  const auto first = static_cast<std::ptrdiff_t>(pods.size());
  for (const PodId pod : there_) {
    const Placed& p = pods_[pod.index];
    pods.push_back({pod, context_.jobs.spec(pod).priority, p.since, p.is_leaving});
  }
  std::ranges::sort(pods.begin() + first, pods.end(), [](const PlacedPod& a, const PlacedPod& b) {
    if (a.priority != b.priority) return a.priority > b.priority;
    return a.since != b.since ? a.since < b.since : a.id < b.id;
  });
}

std::unique_ptr<WhatIf> Preemptions::what_if(const Cycle& cycle) {
  return std::make_unique<Trial>(*this, cycle);
}

// ---- who makes room

void Preemptions::nominated_on(NodeId node, std::vector<PodId>& pods) const {
  for (const auto& n : nominations_.on(node)) pods.push_back(n.pod);
}

void Preemptions::nominate(PodId pod, NodeId node, bool is_tried_first) {
  ORRERY_CHECK(node.index < context_.cluster.nodes(), "there is such a node");
  const PodSpec& spec = context_.jobs.spec(pod);  // which others may move
  nominations_.set({.pod = pod,
                    .priority = spec.priority,
                    .asked = spec.requests(),
                    .whole_gpus = spec.gpu_milli == kMilli ? spec.gpus : 0,
                    .is_tried_first = is_tried_first},
                   node);
  if (api_ != nullptr) api_->nominated(pod);
}

void Preemptions::withdraw(PodId pod) {
  if (!nominations_.node_of(pod).is_valid()) return;
  nominations_.clear(pod);
  withdrawn.emit(pod);
}

void Preemptions::evict(PodId preemptor, std::span<const PodId> victims, bool waits) {
  for (const PodId victim : victims) {
    Placed& p = track(victim);
    // Another victim's gang may have taken it along.
    if (!p.node.is_valid() || p.is_leaving) continue;
    ++victims_;
    p.is_leaving = true;
    victim_waits.emit(victim);
    if (!track(victim).node.is_valid()) continue;
    ++track(preemptor).unanswered;
    if (waits) ++awaited_;
    ++undated_;
    orders_.push_back({.due = {},
                       .preemptor = preemptor,
                       .victim = victim,
                       .preemptor_life = life(preemptor),
                       .victim_life = life(victim),
                       .by_job = context_.jobs.job(context_.jobs.pod(preemptor).job).serial,
                       .by_rank = context_.jobs.pod(preemptor).rank,
                       .by_priority = context_.jobs.spec(preemptor).priority,
                       .waits = waits});
  }
}

void Preemptions::carry_out(Time when) {
  if (undated_ == 0) return;
  for (; undated_ > 0; --undated_) orders_[orders_.size() - undated_].due = when;
  context_.sim.engine.at(
      when, Label{"scheduling.preempt"}, [this] { carry_out_due(); }, Phase::Control);
}

bool Preemptions::is_there(const Order& order) const {
  return life(order.victim) == order.victim_life && pods_[order.victim.index].node.is_valid();
}

void Preemptions::carry_out_due() {
  const Time now = context_.sim.engine.now();
  while (orders_.size() > undated_ && orders_.front().due <= now) {
    const Order order = orders_.front();
    orders_.pop_front();
    if (!is_there(order)) {
      ORRERY_MARK("scheduling.victim_gone_already");
      answered(order);
    } else if (api_ == nullptr) {
      preempt(order);
      answered(order);
    } else {
      ++asked_;
      api_->evict(order.victim, [this, order](PodApi::Creation news) { told(order, news); });
    }
  }
}

void Preemptions::told(const Order& order, PodApi::Creation news) {
  if (news != PodApi::Creation::Answered) --asked_;
  if (news == PodApi::Creation::Answered) return answered(order);
  if (!is_there(order)) return;
  if (news == PodApi::Creation::Known) return preempt(order);
  ORRERY_MARK("scheduling.preemption_refused");
  track(order.victim).is_leaving = false;
  // Whoever else waits for the same pod hears it, too.
  std::vector<PodId> waiting;
  nominated_on(pods_[order.victim.index].node, waiting);
  for (const PodId other : waiting) {
    if (context_.jobs.spec(other).priority > context_.jobs.spec(order.victim).priority) {
      withdraw(other);
    }
  }
  if (life(order.preemptor) == order.preemptor_life) withdraw(order.preemptor);
}

void Preemptions::preempt(const Order& order) {
  record(order);
  context_.controller.preempt(order.victim);
}

void Preemptions::answered(const Order& order) {
  if (order.waits && --awaited_ == 0) resumed.emit();
  Placed& p = track(order.preemptor);
  if (life(order.preemptor) != order.preemptor_life || p.unanswered == 0) return;
  if (--p.unanswered == 0) made_room.emit(order.preemptor);
}

void Preemptions::record(const Order& order) {
  if (!rows_.is_on()) return;
  const JobTable& jobs = context_.jobs;
  const Pod& pod = jobs.pod(order.victim);
  rows_.emit({.at = context_.sim.engine.now(),
              .node = pods_[order.victim.index].node,
              .job = jobs.job(pod.job).serial,
              .rank = pod.rank,
              .priority = jobs.spec(order.victim).priority,
              .by_job = order.by_job,
              .by_rank = order.by_rank,
              .by_priority = order.by_priority});
}

}  // namespace orrery
