// models/scheduling/toolbox/time_sharing.hpp -- decides which jobs shall run: in a given order, as
// many as fit. Running jobs may be stopped for jobs earlier in the order.
#pragma once

#include <span>
#include <vector>

#include "models/scheduling/contract/job_policy_api.hpp"

namespace orrery {

// Lists all waiting jobs, then all running jobs except those that are stopping.
inline void collect_jobs(const JobBoard& board, std::vector<JobSlot>& jobs) {
  jobs.clear();
  board.waiting().for_each([&](JobSlot job) { jobs.push_back(job); });
  board.running().for_each([&](JobSlot job) {
    if (board.job(job).is_running()) jobs.push_back(job);
  });
}

// Decides which jobs shall run: in the order of `jobs`, each job that fits beside the jobs chosen
// before. Running jobs that are not chosen are stopped. If board.stop() returns false, the job
// keeps its GPUs. Chosen jobs that wait are started if they fit now. Otherwise a later call starts
// them, once the stopped jobs have returned their resources. Example: a pool of 8 GPUs and the jobs
// A (4), B (8), C (4) in this order, of which B runs. A and C are chosen, so B is stopped. A and C
// start when B has returned its GPUs.
inline void share_out(JobBoard& board, std::span<const JobSlot> jobs) {
  int64_t left = board.capacity();
  std::vector<JobSlot> wanted;
  for (const JobSlot slot : jobs) {
    const QueuedJob& job = board.job(slot);
    if (job.ask.count <= left) {
      left -= job.ask.count;
      if (!job.is_running()) wanted.push_back(slot);
    } else if (job.is_running() && !board.stop(slot)) {
      left -= job.ask.count;
    }
  }
  for (const JobSlot slot : wanted) {
    const QueuedJob& job = board.job(slot);
    if (job.state == QueuedState::Waiting && board.fits(job)) board.start(slot);
  }
}

}  // namespace orrery
