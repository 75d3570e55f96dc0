// models/workload/lifecycle/gang_interruptions.cpp -- interruptions of gangs by queues, schedulers
// and late members: see GangLives.
#include <utility>

#include "models/workload/lifecycle/gang_lives.hpp"
#include "sim/core/check.hpp"

namespace orrery {

bool GangLives::is_needed(PodId id) const {
  return jobs_.pod(id).takes_part && !rendezvous_.is_gathering(jobs_.pod(id).job);
}

void GangLives::member_lost(PodId id) {
  const JobId job = jobs_.pod(id).job;
  if (rendezvous_.is_gathering(job)) rendezvous_.call(job);
}

bool GangLives::rank_died(PodId id, int64_t gpu_milli) {
  const JobId job = jobs_.pod(id).job;
  if (phases_.of(job) != JobPhase::Running || !jobs_.pod(id).takes_part) return false;
  stops(job, {});
  if (runs_.of(job).is_suspending) return true;
  states_[job].dead_pod = id;
  hangs(job, replacements_.hang_timeout());
  news_.rank_dead.emit(id, gpu_milli);
  return true;
}

bool GangLives::abort(JobId id) {
  if (phases_.of(id) != JobPhase::Running) return false;
  ORRERY_MARK("jobs.gang_aborted");
  stops(id, {});
  hangs(id, replacements_.exit_detection());
  return true;
}

// ---- late members

// The agents have noticed a late member. A gang that is Running, or Starting after its rendezvous,
// restarts to include the member. A gang that is being suspended does not restart.
void GangLives::noticed(PodId id) {
  const JobId job = jobs_.pod(id).job;
  const JobPhase phase = phases_.of(job);
  const bool has_begun =
      phase == JobPhase::Running || (phase == JobPhase::Starting && !rendezvous_.is_gathering(job));
  if (has_begun && !runs_.of(job).is_suspending) change_membership(job);
}

// All processes restart on their present nodes.
void GangLives::change_membership(JobId id) {
  ORRERY_MARK("jobs.membership_changed");
  stops(id, {});
  ++accounts_.of(id).membership_changes;
  ++accounts_.counters().membership_changes;
  RecoveryRow& row = *recoveries_.find(runs_.of(id).recovery);
  row.is_membership_change = true;
  row.detected = row.failed;
  free_ranks(id);
  gathers(id);
}

// ---- preemption

// The other ranks of a running gang detect the exit of the preempted rank after exit_detection().
void GangLives::preempted(PodId id, bool was_needed) {
  const JobId job = jobs_.pod(id).job;
  if (rendezvous_.is_gathering(job)) return rendezvous_.call(job);
  if (!was_needed) return;
  const JobPhase phase = phases_.of(job);
  const bool was_up = phase == JobPhase::Running || phase == JobPhase::Starting;
  // If no other member is bound, the exit is detected at once.
  hangs(job, pods_.counts(job).bound > 0 ? replacements_.exit_detection() : Duration{});
  if (!was_up || phases_.of(job) != JobPhase::Hung) return;
  states_[job].is_preempted = true;
  if (auto* const row = recoveries_.find(runs_.of(job).recovery)) row->is_preemption = true;
}

// ---- suspension

bool GangLives::suspend(JobId id, Duration write, Duration restart) {
  if (phases_.of(id) != JobPhase::Running) return false;
  if (runs_.of(id).is_suspending) return true;
  runs_.suspend(id, restart);
  if (write == Duration{}) {
    suspended(id);
    return true;
  }
  states_[id].event =
      sim_.engine.after(write, Label{"jobs.suspended"}, [this, id] { suspended(id); });
  return true;
}

void GangLives::suspended(JobId id) {
  runs_.book(id);
  pods_.remove_all(id, PodEnd::GangStopped);
  const Job& job = jobs_.job(id);  // pods beyond min_available may still wait to be created
  JobTable::for_each_pod(job.first_pod, job.pods,
                         [this](PodId pod) { pods_.creation().forget(pod); });
  runs_.suspended(id);
  phases_.set(id, JobPhase::Pending);
  news_.job_suspended.emit(id);
}

}  // namespace orrery
