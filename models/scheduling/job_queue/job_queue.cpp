#include "models/scheduling/job_queue/job_queue.hpp"

#include <algorithm>
#include <utility>

#include "models/workload/training/training_progress.hpp"
#include "sim/core/check.hpp"

namespace orrery {

JobQueue::JobQueue(Sim sim, const ClusterState& cluster, const JobTable& jobs,
                   JobController& controller, const JobQueueParams& params,
                   std::span<const Machine> machines, const JobQueueSurroundings& around)
    : sim_{sim},
      jobs_{jobs},
      controller_{controller},
      params_{params},
      around_{around},
      pool_{cluster, machines, params.counts},
      estimates_{params.estimates, sim.rng},
      waiting_{sim.engine, records_, policies_},
      running_{sim.engine, records_, estimates_, policies_, pool_.counted()},
      wake_{sim.engine, Label{"job_queue.wakes"},
            [this] {
              news_.has_room = true;
              now() < plans_from_ ? react_soon() : react();
            },
            Phase::Control},
      log_{sim.recorder, around.record_decisions},
      policies_{*this, params} {
  controller_.job_arrived.connect([this](JobId job) { job_arrived(job); });
  controller_.job_over.connect([this](JobId job) { job_over(job); });
  if (!around_.is_counting) {
    controller_.phase_changed.connect([this](JobId job, JobPhase, JobPhase after) {
      if (after == JobPhase::Running) job_computes(job);
    });
  }
  controller_.job_suspended.connect([this](JobId job) { job_suspended(job); });
}

// ---- news

void JobQueue::connect(NodeNews& nodes) {
  nodes.node_down.connect([this](NodeId node, NodeReason) { node_changed(node, false); });
  nodes.node_up.connect([this](NodeId node) { node_changed(node, true); });
}

void JobQueue::node_changed(NodeId node, bool is_up) {
  pool_.node_changed(node, is_up);
  policies_.tell(is_up ? &JobWatcher::node_comes : &JobWatcher::node_goes, node);
  news_.has_room = true;
  react_soon();
}

void JobQueue::job_arrived(JobId id) {
  const Job& job = jobs_.job(id);
  QueuedJob& r = records_.add(id, job, now());
  const int64_t count = job.demand[pool_.counted()];
  r.ask = {.count = count,
           .units = (count + unit() - 1) / unit(),
           .request = job.demand,
           .run = job.spec.requested};
  const CheckpointPlan checkpoints{job.spec.checkpoint_interval, job.spec.checkpoint_write};
  const Duration run =
      std::min(run_time(job.spec.work, checkpoints), time_limit(job.spec, around_.overruns));
  // The estimate ignores jobs that end at this instant: estimates_ learns from them in react().
  r.estimate.run = r.estimate.first = estimates_.estimate(r, run);
  news_.arrived.push_back(r.slot);
  react_soon();
}

void JobQueue::job_over(JobId id) {
  QueuedJob& r = records_.of(id);
  const bool was_started = r.state == QueuedState::Running || r.state == QueuedState::Stopping;
  if (!was_started) return job_over_unstarted(r);
  ORRERY_CHECK(std::ranges::find(news_.suspended, r.slot) == news_.suspended.end(),
               "a job that was stopped ends only after it runs again");
  r.is_over = true;
  const Job& job = jobs_.job(id);
  if (controller_.has_started(id)) {
    r.run = job.phase == JobPhase::Completed ? job.spec.work : r.executed_by(now());
    statistics_.job_ends(r, now());
  } else {
    r.progress.started = Time{-1};  // the job never computed: its pods waited for nodes
  }
  const Duration release_delay = params_.costs.release_delay;
  if (!around_.is_counting || release_delay == Duration{}) return job_released(r.slot);
  running_.expect_end(r, now() + release_delay);
  sim_.engine.after(release_delay, Label{"job_queue.released"},
                    [this, slot = r.slot] { job_released(slot); });
}

void JobQueue::job_computes(JobId id) {
  QueuedJob& r = records_.of(id);
  if (r.is_running() && !r.is_over) running_.computes(r);
}

// The job was cancelled or rejected before its start. Jobs behind it in the queue may start now.
void JobQueue::job_over_unstarted(QueuedJob& r) {
  if (jobs_.job(r.id).phase == JobPhase::Cancelled) {
    log_.decided(*this, r, QueueDecision::Cancelled, {});
  }
  if (r.state == QueuedState::Arrived) {
    std::erase(news_.arrived, r.slot);
  } else if (r.state != QueuedState::Infeasible) {
    waiting_.withdraw(r.slot);
    news_.has_room = true;
    react_soon();
  }
  records_.forget(r.slot);
}

void JobQueue::job_released(JobSlot slot) {
  news_.ended.push_back(slot);
  react_soon();
}

void JobQueue::job_suspended(JobId id) {
  QueuedJob& r = records_.of(id);
  const JobSlot slot = r.slot;
  if (r.is_running()) {  // a controller suspended the job
    r.progress.executed = r.executed_by(now());
    r.state = QueuedState::Stopping;
  }
  // If the plan stops the job, the job's resources are returned at once, because the same call of
  // plan() may use them.
  if (is_planning_) {
    take_back_stopped(slot);
    return;
  }
  news_.suspended.push_back(slot);
  react_soon();
}

void JobQueue::react_soon() {
  if (std::exchange(news_.will_be_taken_in, true)) return;
  sim_.engine.at(
      std::max(now(), plans_from_), Label{"job_queue.reacts"}, [this] { react(); }, Phase::Control);
}

// ---- processing of events

void JobQueue::react() {
  news_.will_be_taken_in = false;
  const bool has_room = std::exchange(news_.has_room, false) || !news_.suspended.empty();
  for (const JobSlot slot : news_.suspended) take_back_stopped(slot);
  news_.suspended.clear();
  params_.react == React::EachEvent ? react_to_each(has_room) : react_to_all(has_room);
}

void JobQueue::react_to_all(bool has_room) {
  has_room |= !news_.ended.empty();
  for (const JobSlot slot : news_.ended) take_back_ended(slot);
  news_.ended.clear();
  const bool has_longer = running_.correct_overdue();
  std::vector<JobSlot> arrived = std::exchange(news_.arrived, {});
  std::erase_if(arrived, [this](JobSlot slot) { return !take_in(slot); });
  std::ranges::sort(arrived, {}, [this](JobSlot slot) { return waiting().key(slot); });
  plan({arrived, has_room, has_longer});
}

// Imitates a scheduler that plans after every single arrival and every end at an unexpected time.
// The resources of all jobs that end at their expected times are returned first, without a plan.
// If nothing else causes a plan, these ends together cause one.
void JobQueue::react_to_each(bool has_room) {
  PlanNews news{.has_room = has_room, .has_longer = running_.correct_overdue()};
  std::vector<JobSlot> arrived = std::exchange(news_.arrived, {});
  std::vector<JobSlot> ended = std::exchange(news_.ended, {});
  const auto is_unexpected = [this](JobSlot slot) {
    return records_[slot].progress.expected_end != now();
  };
  const auto expected = std::ranges::stable_partition(ended, is_unexpected);
  for (auto slot = expected.begin(); slot != expected.end(); ++slot) take_back_ended(*slot);
  news.has_room |= !expected.empty();
  ended.erase(expected.begin(), expected.end());
  for (const JobSlot& slot : arrived) {
    if (!take_in(slot)) continue;
    news.arrived = {&slot, 1};
    plan(std::exchange(news, {}));
  }
  for (const JobSlot slot : ended) {
    take_back_ended(slot);
    news.has_room = true;
    plan(std::exchange(news, {}));
  }
  if (news.has_room || news.has_longer) plan(news);
}

bool JobQueue::take_in(JobSlot slot) {
  QueuedJob& r = records_[slot];
  if (!pool_.is_feasible(r.ask.request)) {
    ORRERY_MARK("job_queue.infeasible");
    statistics_.job_is_infeasible();
    if (params_.infeasible != IfInfeasible::Block) {
      r.state = QueuedState::Infeasible;
      log_.decided(*this, r, QueueDecision::Infeasible, {});
      if (params_.infeasible == IfInfeasible::Fail) controller_.reject(r.id);
      return false;
    }
  }
  waiting_.add(slot);
  return true;
}

void JobQueue::take_back(JobSlot slot) {
  QueuedJob& r = records_[slot];
  running_.remove(slot);
  if (r.partner != kNoJob) set_pace(running_.part(r).slot, {});
  pool_.give_back(r.held);
  r.held = {};
  statistics_.pool_changes(now(), pool_.used()[pool_.counted()]);
}

void JobQueue::take_back_ended(JobSlot slot) {
  take_back(slot);
  const QueuedJob& r = records_[slot];
  if (r.has_started()) estimates_.learn(r.user, r.run);
  policies_.tell(&JobWatcher::job_ends, r);
  records_.forget(slot);
}

void JobQueue::take_back_stopped(JobSlot slot) {
  take_back(slot);
  QueuedJob& r = records_[slot];
  r.queued = now();
  policies_.tell(&JobWatcher::job_stops, r);
  statistics_.job_stops();
  waiting_.add(slot);
  log_.decided(*this, r, QueueDecision::Stopped, *policies_.plan().name);
}

void JobQueue::plan(const PlanNews& news) {
  if (news.has_room) waiting_.retry_held();
  if (waiting().is_empty() && !policies_.plan().call(&Plan::plans_without_waiting)) return;
  waiting_.rerank_if_due();
  wake_.disarm();
  is_planning_ = true;
  policies_.plan().call(&Plan::plan, news);
  is_planning_ = false;
  log_.planned(*this, policies_.plan());
}

// ---- figures

void JobQueue::add_summary(Recorder& recorder, Time end) const {
  statistics_.add_summary(recorder, end, pool_.total());
}

void JobQueue::audit() const {
  Resources held;
  running().for_each([&](JobSlot slot) { held += records_[slot].held; });
  ORRERY_CHECK(held == pool_.used(), "the used amount of the pool is what started jobs hold");
}

}  // namespace orrery
