#include "models/workload/lifecycle/state/job_phases.hpp"

#include <array>

#include "sim/core/check.hpp"

namespace orrery {
namespace {

constexpr uint32_t bit(JobPhase phase) { return uint32_t{1} << static_cast<unsigned>(phase); }
constexpr uint32_t kGivesUp = bit(JobPhase::Failed) | bit(JobPhase::Cancelled);

// Allowed moves from each phase. A job moves back from Running if it is suspended, if its gang
// restarts with more members, or if its pods are independent and none of them runs any more.
constexpr std::array<uint32_t, 8> kMoves = {
    /* pending    */ bit(JobPhase::Starting) | bit(JobPhase::Running) | kGivesUp,
    /* starting   */ bit(JobPhase::Running) | bit(JobPhase::Hung) | bit(JobPhase::Pending) |
        bit(JobPhase::Completed) | kGivesUp,
    /* running    */ bit(JobPhase::Hung) | bit(JobPhase::Starting) | bit(JobPhase::Pending) |
        bit(JobPhase::Completed) | kGivesUp,
    /* hung       */ bit(JobPhase::Restarting) | kGivesUp,
    /* restarting */ bit(JobPhase::Pending) | kGivesUp,
    /* completed  */ 0,
    /* failed     */ 0,
    /* cancelled  */ 0};

}  // namespace

void JobPhases::set(JobId id, JobPhase phase) {
  Job& job = jobs_.job(id);
  const JobPhase before = job.phase;
  if (before == phase) return;
  ORRERY_CHECK((kMoves[static_cast<size_t>(before)] & bit(phase)) != 0,
               "a job's phase changes only as kMoves allows");
  job.phase = phase;
  changing.emit(id, before, phase);
  news_.phase_changed.emit(id, before, phase);
}

}  // namespace orrery
