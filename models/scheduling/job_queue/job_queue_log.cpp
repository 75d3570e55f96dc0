#include "models/scheduling/job_queue/job_queue_log.hpp"

namespace orrery {

JobQueueLog::JobQueueLog(Recorder& recorder, bool is_on) {
  if (is_on) {
    rows_.emplace(recorder, "/events/job_queue",
                  "Decisions of the job queue: a row whenever the decision about a job changes.");
  }
}

void JobQueueLog::decided(const JobBoard& board, const QueuedJob& job, QueueDecision decision,
                          std::string_view policy) {
  if (!is_on()) return;
  const bool is_held_on = decision == QueueDecision::Held && job.slot < latest_.size() &&
                          latest_[job.slot] == QueueDecision::Held;
  if (is_held_on) return;  // an Admit rejected the held job again
  QueueRow row;
  row.decision = decision;
  row.policy = policy;
  write(board, job, row);
}

void JobQueueLog::planned(const JobBoard& board, const Bound<Plan>& plan) {
  if (!is_on() || board.waiting().is_empty()) return;
  const JobSlot head = board.waiting().first();
  const auto reserved = [&plan](JobSlot job) {
    const Time start = plan.call(&Plan::reserved_start, job);
    return start == Time::max() ? Time{-1} : start;
  };
  int32_t place = 0;
  board.waiting().for_each([&](JobSlot slot) {
    const QueuedJob& job = board.job(slot);
    const QueueDecision decision =
        board.fits(job) ? QueueDecision::PassedOver : QueueDecision::LacksRoom;
    if (slot >= latest_.size() || latest_[slot] != decision) {
      QueueRow row;
      row.decision = decision;
      row.policy = std::string_view{*plan.name};
      row.place = place;
      row.head = static_cast<int64_t>(board.job(head).serial);
      row.reserved = reserved(slot);
      row.head_reserved = reserved(head);
      write(board, job, row);
    }
    ++place;
  });
}

// When a slot gets another job, `latest_` keeps the last decision about the previous job: Started,
// Cancelled or Infeasible. A repeated decision is left out only if it is LacksRoom, PassedOver or
// Held. So the first decision about the new job is always written.
void JobQueueLog::write(const JobBoard& board, const QueuedJob& job, QueueRow row) {
  if (job.slot >= latest_.size()) latest_.resize(job.slot + size_t{1}, QueueDecision::Started);
  latest_[job.slot] = row.decision;
  row.at = board.now();
  row.job = job.serial;
  row.asked = job.ask.units;
  row.free = board.free() / board.unit();
  rows_->emit(row);
}

}  // namespace orrery
