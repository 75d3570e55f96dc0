#include "models/scheduling/job_queue/waiting_jobs.hpp"

#include <algorithm>

namespace orrery {

void WaitingJobs::insert(const QueuedJob& job, int64_t rank) {
  in_order_.insert(job.slot, {rank, job.submitted, job.serial}, job.ask.count,
                   job.left(engine_.now()));
}

void WaitingJobs::add(JobSlot slot) {
  QueuedJob& job = records_[slot];
  job.state = QueuedState::Waiting;
  policies_.tell(&JobWatcher::job_waits, job);
  insert(job, policies_.order().call(&QueueOrder::rank, job));
}

void WaitingJobs::leave(JobSlot slot) {
  in_order_.erase(slot);
  policies_.tell(&JobWatcher::job_leaves, records_[slot]);
}

void WaitingJobs::hold(JobSlot slot) {
  in_order_.erase(slot);
  records_[slot].state = QueuedState::Held;
  policies_.tell(&JobWatcher::job_leaves, records_[slot]);
  held_.push_back(slot);
}

void WaitingJobs::withdraw(JobSlot slot) {
  if (records_[slot].state == QueuedState::Waiting) {
    leave(slot);
  } else {
    std::erase(held_, slot);
  }
  policies_.tell(&JobWatcher::job_cancelled, records_[slot]);
}

void WaitingJobs::retry_held() {
  scratch_.swap(held_);
  held_.clear();
  for (const JobSlot slot : scratch_) add(slot);
}

void WaitingJobs::rerank_if_due() {
  const Duration valid_for = policies_.order().call(&QueueOrder::valid_for);
  if (valid_for == Duration::max() || engine_.now() < ranked_at_ + valid_for) return;
  ranked_at_ = engine_.now();
  scratch_.clear();
  in_order_.for_each([this](JobSlot slot) { scratch_.push_back(slot); });
  for (const JobSlot slot : scratch_) {
    const QueuedJob& job = records_[slot];
    const int64_t rank = policies_.order().call(&QueueOrder::rank, job);
    if (rank == in_order_.key(slot).rank) continue;
    in_order_.erase(slot);
    insert(job, rank);
  }
}

}  // namespace orrery
