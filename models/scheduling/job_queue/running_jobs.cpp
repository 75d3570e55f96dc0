#include "models/scheduling/job_queue/running_jobs.hpp"

#include <utility>

namespace orrery {

void RunningJobs::insert(const QueuedJob& job) {
  by_end_.insert(job.slot, {job.progress.expected_end.ns, job.submitted, job.serial},
                 job.held[counted_], job.estimate.run);
}

void RunningJobs::end_moves(const QueuedJob& job) {
  insert(job);
  policies_.tell(&JobWatcher::job_end_moves, job);
}

void RunningJobs::correct(QueuedJob& job) const {
  job.estimate.run = estimates_.corrected(job);
  ++job.estimate.corrections;
  job.progress.expected_end = job.end_by_estimate();
}

void RunningJobs::begin(QueuedJob& job, Duration setup) {
  job.state = QueuedState::Running;
  JobProgress& progress = job.progress;
  progress.started = now();
  progress.setup = setup;
  job.has_computed = false;
  progress.counted_from = now() + setup;
  progress.expected_end = job.end_by_estimate();
  // A job that was stopped may have used up its estimate in its earlier runs.
  while (progress.expected_end <= now()) correct(job);
  insert(job);
}

// The estimate is counted from the time at which the job starts to compute. Otherwise the start of
// its pods would count as run time, and each job would exceed its estimate.
void RunningJobs::computes(QueuedJob& job) {
  JobProgress& progress = job.progress;
  if (std::exchange(job.has_computed, true) || progress.counted_from == now()) return;
  by_end_.erase(job.slot);
  progress.counted_from = now();
  progress.expected_end = job.end_by_estimate();
  end_moves(job);
}

void RunningJobs::set_pace(QueuedJob& job, Pace pace) {
  by_end_.erase(job.slot);
  JobProgress& progress = job.progress;
  if (now() > progress.counted_from) {
    progress.executed = job.executed_by(now());
    progress.counted_from = now();
  }
  progress.pace = pace;
  progress.expected_end = job.end_by_estimate();
  end_moves(job);
}

void RunningJobs::expect_end(QueuedJob& job, Time end) {
  by_end_.erase(job.slot);
  job.progress.expected_end = end;
  end_moves(job);
}

QueuedJob& RunningJobs::part(QueuedJob& leaves) {
  QueuedJob& stays = records_[std::exchange(leaves.partner, kNoJob)];
  stays.partner = kNoJob;
  by_end_.erase(stays.slot);
  stays.held += std::exchange(leaves.held, {});
  insert(stays);
  return stays;
}

bool RunningJobs::correct_overdue() {
  bool has_corrected = false;
  for (JobSlot slot = by_end_.first(); slot != kNoJob;) {
    QueuedJob& job = records_[slot];
    const JobSlot next = by_end_.next(slot);
    const Time& end = job.progress.expected_end;
    if (end > now()) break;
    const bool is_due = job.is_over && end == now();
    if (!is_due) {
      by_end_.erase(slot);
      while (end < now() || (end == now() && !job.is_over)) {
        if (job.state == QueuedState::Stopping) {
          job.progress.expected_end = now() + 1_s;
        } else {
          correct(job);
        }
      }
      end_moves(job);
      has_corrected = true;
    }
    slot = next;
  }
  return has_corrected;
}

}  // namespace orrery
