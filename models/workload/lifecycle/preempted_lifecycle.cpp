// models/workload/lifecycle/preempted_lifecycle.cpp -- pods that the scheduler deletes to make room
// for others.
#include "models/workload/lifecycle/job_controller.hpp"
#include "sim/core/check.hpp"

namespace orrery {

// Until its containers have ended, it computes on and keeps what it has.
void JobController::preempt(PodId id) {
  const PodState state = jobs_.pod(id).state;
  const bool has_containers = state == PodState::Bound || state == PodState::Running;
  if (params_.termination == Duration{} || !has_containers) return preempted(id);
  ++terminating_;
  sim_.engine.after(
      params_.termination, Label{"jobs.pod_terminated"},
      [this, id, generation = jobs_.pod(id).generation] {
        --terminating_;
        if (jobs_.pod(id).generation == generation) preempted(id);
      },
      Phase::Control);
}

// As with a pod failure policy that ignores disruptions: it does not count as a failure, and the
// controller replaces it at once. The other ranks of a gang that runs see their peer exit.
void JobController::preempted(PodId id) {
  const Pod& pod = jobs_.pod(id);
  if (pod.state == PodState::Absent || pod.state == PodState::Done) return;
  const JobId job_id = pod.job;
  const Job& job = jobs_.job(job_id);
  JobState& state = states_[job_id];
  const bool is_gang = pod.gang.is_valid(), had_node = pod.state != PodState::Pending;
  const int128_t lost_before = state.gpu_time.lost;
  if (had_node && !is_gang) alone_stops(id, {});
  const bool stops = is_gang && is_needed(id);
  if (had_node && stops) gang_stops(job_id, {});
  ++state.preemptions;
  ++counters_.pods_preempted;
  counters_.gpu_lost_preempted += state.gpu_time.lost - lost_before;
  remove_pod(id, PodEnd::Preempted);
  const bool is_alone = !is_gang || !comes_back_whole(job.phase);
  const bool is_replaced = job.phase == JobPhase::Pending || (!stops && is_alone);
  if (is_replaced || !had_node) {
    want_pod(id);
    queue_creation(job_id);
  }
  if (!had_node) return;
  if (!is_gang) return refresh_phase(job_id);
  if (is_gathering(job_id)) return call_members(job_id);
  if (!stops) return;
  const bool was_up = job.phase == JobPhase::Running || job.phase == JobPhase::Starting;
  gang_hangs(job_id, state.bound > 0 ? exit_detection() : Duration{});  // nobody waits for it
  if (!was_up || job.phase != JobPhase::Hung) return;
  state.is_preempted = true;
  if (RecoveryRow* const row = recoveries_.find(state.run.recovery)) row->is_preemption = true;
}

}  // namespace orrery
