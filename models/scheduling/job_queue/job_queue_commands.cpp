// models/scheduling/job_queue/job_queue_commands.cpp -- commands of a Plan to the job queue, such
// as start(), stop() and set_pace().
#include <algorithm>
#include <optional>
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

bool JobQueue::start(JobSlot slot, const NodeSet* nodes) {
  QueuedJob& r = records_[slot];
  ORRERY_CHECK(r.state == QueuedState::Waiting, "only a waiting job starts");
  ORRERY_CHECK(fits(r), "a plan starts what fits");
  ORRERY_CHECK(nodes == nullptr || chooses_nodes(),
               "start_on() needs jobs with pods, and a plugin that heeds the chosen nodes");
  if (is_refused(r)) return false;
  r.held = r.ask.request;
  r.progress.pace = {};
  begin(r);
  if (around_.is_counting) {
    run_counted(r);
  } else {
    controller_.release(r.id, nodes == nullptr ? std::nullopt : std::optional{*nodes});
  }
  return true;
}

bool JobQueue::start_beside(JobSlot slot, JobSlot host) {
  QueuedJob& r = records_[slot];
  QueuedJob& other = records_[host];
  ORRERY_CHECK(around_.is_counting && r.state == QueuedState::Waiting,
               "start_beside() needs the counting driver and a waiting job");
  ORRERY_CHECK(other.is_running() && !other.is_over && other.partner == kNoJob,
               "a host runs and has no partner");
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

// Moves the job from waiting to running. The caller must have set its resources and its pace.
void JobQueue::begin(QueuedJob& r) {
  waiting_.leave(r.slot);
  log_.decided(*this, r, QueueDecision::Started, *policies_.plan().name);
  running_.begin(r, setup(r.slot));
  pool_.take(r.held);
  statistics_.pool_changes(now(), pool_.used()[pool_.counted()]);
  policies_.tell(&JobWatcher::job_starts, r);
}

Duration JobQueue::setup(JobSlot slot) const {
  const QueuedJob& r = records_[slot];
  const Job& job = jobs_.job(r.id);
  const bool has_run = r.progress.executed > Duration{};
  const Duration restart = has_run ? std::max(job.spec.restore, params_.stops.restart) : Duration{};
  return start_cost() + init_time(job, job.gpus) + restart;
}

Duration JobQueue::start_cost() const {
  return around_.is_counting ? params_.costs.batch_start : Duration{};
}

void JobQueue::run_counted(const QueuedJob& r) {
  controller_.run_counted(r.id, start_cost());
  if (start_cost() > Duration{}) plans_from_ = now() + start_cost();
}

void JobQueue::set_pace(JobSlot slot, Pace pace) {
  ORRERY_CHECK(around_.is_counting && pace.work > 0, "jobs without pods go at any pace above 0");
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
  // If the stop takes no time, the job already waits again.
  if (r.state != QueuedState::Stopping) return true;
  running_.expect_end(r, now() + params_.stops.write);
  return true;
}

bool JobQueue::cancel(JobSlot slot) { return controller_.cancel(records_[slot].id); }

void JobQueue::wake_at(Time when) {
  if (when == Time::max() || (wake_.is_armed() && wakes_at_ <= when)) return;
  wakes_at_ = when;
  wake_.arm_at(when);
}

}  // namespace orrery
