// How waiting jobs start, or are held back, and the pace at which they then run.
#include <algorithm>
#include <utility>

#include "models/scheduling/job_queue/job_queue.hpp"
#include "models/workload/training/communicator_init.hpp"
#include "sim/core/check.hpp"

namespace orrery {

const Bound<Admit>* JobQueue::who_refuses(const QueuedJob& job) const {
  const auto refuses = [&](const Bound<Admit>& by) { return !by.call(&Admit::admit, job); };
  const auto by = std::ranges::find_if(admits_, refuses);
  return by == admits_.end() ? nullptr : &*by;
}

void JobQueue::hold(JobSlot slot, const Bound<Admit>& by) {
  QueuedJob& r = records_[slot];
  log_.decided(*this, r, QueueDecision::Held, *by.name);
  waiting_.erase(slot);
  r.state = QueuedState::Held;
  for (const auto& watcher : watchers_) watcher.call(&JobWatcher::job_leaves, r);
  held_.push_back(slot);
}

// From waiting to running; the caller has settled what it holds and its pace.
void JobQueue::begin(QueuedJob& r) {
  waiting_.erase(r.slot);
  for (const auto& watcher : watchers_) watcher.call(&JobWatcher::job_leaves, r);
  const Job& job = jobs_.job(r.id);
  r.state = QueuedState::Running;
  log_.decided(*this, r, QueueDecision::Started, *plan_.name);
  r.started = now();
  const Duration restart = std::max(job.spec.restore, stopping_.restart);
  r.setup =
      start_cost() + init_time(job, job.gpus) + (r.executed > Duration{} ? restart : Duration{});
  r.counted_from = r.started + r.setup;
  r.expected_end = r.end_by_estimate();
  while (r.expected_end <= now()) {  // it had run for its estimate when it was stopped
    r.estimate = estimates_.corrected(r);
    ++r.corrections;
    r.expected_end = r.end_by_estimate();
  }
  track(r.slot);
  used_ += r.held;
  statistics_.pool_changes(now(), used_[counted_]);
  for (const auto& watcher : watchers_) watcher.call(&JobWatcher::job_starts, r);
}

void JobQueue::track(JobSlot slot) {
  const QueuedJob& r = records_[slot];
  running_.insert(slot, {r.expected_end.ns, r.submitted, r.serial}, r.held[counted_], r.estimate);
}

void JobQueue::set_pace(JobSlot slot, Pace pace) {
  ORRERY_CHECK(is_counting_ && pace.work > 0, "jobs without pods go at any pace above 0");
  QueuedJob& r = record(slot);
  if (!r.is_running() || r.is_over || pace == r.pace) return;
  running_.erase(slot);
  if (now() > r.counted_from) {
    r.executed = r.executed_by(now());
    r.counted_from = now();
  }
  r.pace = pace;
  r.expected_end = r.end_by_estimate();
  track(slot);
  controller_.set_pace(r.id, pace);
}

bool JobQueue::start_beside(JobSlot slot, JobSlot host) {
  QueuedJob& r = record(slot);
  QueuedJob& other = record(host);
  ORRERY_CHECK(is_counting_ && r.state == QueuedState::Waiting, "only a waiting job starts");
  ORRERY_CHECK(other.is_running() && !other.is_over && other.partner == kNoJob,
               "a host runs, and alone");
  ORRERY_CHECK(other.request == r.request, "partners ask for the same");
  if (const Bound<Admit>* const by = who_refuses(r); by != nullptr) {
    hold(slot, *by);
    return false;
  }
  r.partner = host;
  other.partner = slot;
  r.held = {};
  r.pace = {};
  begin(r);
  run_counted(r);
  return true;
}

Duration JobQueue::start_cost() const { return is_counting_ ? costs_.batch_start : Duration{}; }

void JobQueue::run_counted(const QueuedJob& r) {
  controller_.run_counted(r.id, start_cost());
  if (start_cost() > Duration{}) plans_from_ = now() + start_cost();
}

// One of two partners leaves: the other has the GPUs to itself.
void JobQueue::part(QueuedJob& leaves) {
  QueuedJob& stays = records_[std::exchange(leaves.partner, kNoJob)];
  stays.partner = kNoJob;
  running_.erase(stays.slot);
  stays.held += std::exchange(leaves.held, {});
  track(stays.slot);
  set_pace(stays.slot, {});
}

bool JobQueue::stop(JobSlot slot) {
  QueuedJob& r = record(slot);
  if (!r.is_running() || r.is_over) return false;
  const Duration executed = r.executed_by(now());
  const Duration before = std::exchange(r.executed, executed);
  r.state = QueuedState::Stopping;
  if (!controller_.suspend(r.id, stopping_.write, stopping_.restart)) {
    r.state = QueuedState::Running;
    r.executed = before;
    return false;
  }
  if (r.state != QueuedState::Stopping) return true;  // already waits again
  running_.erase(slot);
  r.expected_end = now() + stopping_.write;
  track(slot);
  return true;
}

}  // namespace orrery
