// models/scheduling/job_queue/job_queue_commands.cpp -- what plans ask of the job queue: starts,
// stops, paces.
#include <algorithm>
#include <utility>

#include "models/scheduling/job_queue/job_queue.hpp"
#include "models/workload/training/communicator_init.hpp"
#include "sim/core/check.hpp"

namespace orrery {

bool JobQueue::is_refused(const QueuedJob& job) {
  const Bound<Admit>* const by = policies_.who_refuses(job);
  if (by == nullptr) return false;
  log_.decided(*this, job, QueueDecision::Held, *by->name);
  waiting_.hold(job.slot);
  return true;
}

JobSlot JobQueue::head() {
  for (;;) {
    const JobSlot slot = waiting().first();
    if (slot == kNoJob || !is_refused(records_[slot])) return slot;
  }
}

bool JobQueue::start(JobSlot slot) {
  QueuedJob& r = records_[slot];
  ORRERY_CHECK(r.state == QueuedState::Waiting, "only a waiting job starts");
  ORRERY_CHECK(fits(r), "a plan starts what fits");
  if (is_refused(r)) return false;
  r.held = r.ask.request;
  r.progress.pace = {};
  begin(r);
  is_counting_ ? run_counted(r) : controller_.release(r.id);
  return true;
}

bool JobQueue::start_beside(JobSlot slot, JobSlot host) {
  QueuedJob& r = records_[slot];
  QueuedJob& other = records_[host];
  ORRERY_CHECK(is_counting_ && r.state == QueuedState::Waiting, "only a waiting job starts");
  ORRERY_CHECK(other.is_running() && !other.is_over && other.partner == kNoJob,
               "a host runs, and alone");
  ORRERY_CHECK(other.ask.request == r.ask.request, "partners ask for the same");
  if (is_refused(r)) return false;
  r.partner = host;
  other.partner = slot;
  r.held = {};
  r.progress.pace = {};
  begin(r);
  run_counted(r);
  return true;
}

// From waiting to running; the caller has settled what it holds and its pace.
void JobQueue::begin(QueuedJob& r) {
  waiting_.leave(r.slot);
  log_.decided(*this, r, QueueDecision::Started, *policies_.plan().name);
  const Job& job = jobs_.job(r.id);
  const bool has_run = r.progress.executed > Duration{};
  const Duration restart = has_run ? std::max(job.spec.restore, params_.stops.restart) : Duration{};
  running_.begin(r, start_cost() + init_time(job, job.gpus) + restart);
  pool_.take(r.held);
  statistics_.pool_changes(now(), pool_.used()[pool_.counted()]);
  policies_.tell(&JobWatcher::job_starts, r);
}

Duration JobQueue::start_cost() const {
  return is_counting_ ? params_.costs.batch_start : Duration{};
}

void JobQueue::run_counted(const QueuedJob& r) {
  controller_.run_counted(r.id, start_cost());
  if (start_cost() > Duration{}) plans_from_ = now() + start_cost();
}

void JobQueue::set_pace(JobSlot slot, Pace pace) {
  ORRERY_CHECK(is_counting_ && pace.work > 0, "jobs without pods go at any pace above 0");
  QueuedJob& r = records_[slot];
  if (!r.is_running() || r.is_over || pace == r.progress.pace) return;
  running_.set_pace(r, pace);
  controller_.set_pace(r.id, pace);
}

bool JobQueue::stop(JobSlot slot) {
  QueuedJob& r = records_[slot];
  if (!r.is_running() || r.is_over) return false;
  const Duration executed = r.executed_by(now());
  const Duration before = std::exchange(r.progress.executed, executed);
  r.state = QueuedState::Stopping;
  if (!controller_.suspend(r.id, params_.stops.write, params_.stops.restart)) {
    r.state = QueuedState::Running;
    r.progress.executed = before;
    return false;
  }
  if (r.state != QueuedState::Stopping) return true;  // already waits again
  running_.expect_end(r, now() + params_.stops.write);
  return true;
}

void JobQueue::wake_at(Time when) {
  if (when == Time::max() || (wake_.is_armed() && wakes_at_ <= when)) return;
  wakes_at_ = when;
  wake_.arm_at(when);
}

}  // namespace orrery
