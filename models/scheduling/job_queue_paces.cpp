// How waiting jobs start, or are held back, and the pace at which they then run.
#include <algorithm>
#include <utility>

#include "models/scheduling/job_queue.hpp"
#include "models/workload/communicator_init.hpp"
#include "sim/core/check.hpp"

namespace orrery {

bool JobQueue::is_admitted(const QueuedJob& job) const {
  return std::ranges::all_of(admits_, [&](const Admission& a) { return a.point->admit(job); });
}

void JobQueue::hold(JobSlot slot) {
  QueuedJob& r = records_[slot];
  const auto refuses = [&](const Admission& admission) { return !admission.point->admit(r); };
  log_.decided(*this, r, QueueDecision::Held, std::ranges::find_if(admits_, refuses)->name);
  waiting_.erase(slot);
  r.state = QueuedState::Held;
  for (JobWatcher* const watcher : watchers_) watcher->job_leaves(r);
  held_.push_back(slot);
}

// From waiting to running; the caller has settled what it holds and its pace.
void JobQueue::begin(QueuedJob& r) {
  waiting_.erase(r.slot);
  for (JobWatcher* const watcher : watchers_) watcher->job_leaves(r);
  const Job& job = jobs_.job(r.id);
  r.state = QueuedState::Running;
  log_.decided(*this, r, QueueDecision::Started, plan_name_);
  r.started = now();
  r.setup = init_time(job, job.gpus) + (r.executed > Duration{} ? job.restore : Duration{});
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
  for (JobWatcher* const watcher : watchers_) watcher->job_starts(r);
}

void JobQueue::track(JobSlot slot) {
  const QueuedJob& r = records_[slot];
  running_.insert(slot, {r.expected_end.ns, r.submitted, r.serial}, r.held[counted_], r.estimate);
}

void JobQueue::set_pace(JobSlot slot, Pace pace) {
  ORRERY_CHECK(is_counting_ && pace.work > 0, "jobs without pods go at any pace above 0");
  QueuedJob& r = records_[slot];
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
  QueuedJob& r = records_[slot];
  QueuedJob& other = records_[host];
  ORRERY_CHECK(is_counting_ && r.state == QueuedState::Waiting, "only a waiting job starts");
  ORRERY_CHECK(other.is_running() && !other.is_over && other.partner == kNoJob,
               "a host runs, and alone");
  ORRERY_CHECK(other.request == r.request, "partners ask for the same");
  if (!is_admitted(r)) {
    hold(slot);
    return false;
  }
  r.partner = host;
  other.partner = slot;
  r.held = {};
  r.pace = {};
  begin(r);
  controller_.run_counted(r.id);
  return true;
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

}  // namespace orrery
