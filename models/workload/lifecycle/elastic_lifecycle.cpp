// models/workload/lifecycle/elastic_lifecycle.cpp -- gangs that may run with fewer than all of
// their members.
//
// They gather as torchrun's rendezvous does. The min_available-th member that is up makes a last
// call, and with its end all that are up then start; so do all at once when the last of them comes.
// Who is later holds its GPUs and is no part of the run: it may go unnoticed. While it is there,
// the agents of the others notice that it waits, within the monitor interval, and all gather anew.
// Until the start, nothing is lost with a member but the member.
#include "models/workload/lifecycle/job_controller.hpp"

namespace orrery {

bool JobController::is_gathering(JobId id) const {
  const Job& job = jobs_.job(id);
  return job.is_elastic && job.phase == JobPhase::Starting && states_[id].barrier == Time::max();
}

// Its gang stops with it, if that has started.
bool JobController::is_needed(PodId id) const {
  return jobs_.pod(id).takes_part && !is_gathering(jobs_.pod(id).job);
}

void JobController::await_up(PodId id) {
  const Pod& pod = jobs_.pod(id);
  sim_.engine.at(pod.started, Label{"jobs.member_up"}, [this, id, generation = pod.generation] {
    const Pod& member = jobs_.pod(id);
    if (member.generation != generation || member.state != PodState::Bound) return;
    runs_[id].is_up = true;
    ++jobs_.gang(member.gang).up;
    is_gathering(member.job) ? call_members(member.job) : await_notice(id);
  });
}

// Whatever else brings the gang down before takes the member along.
void JobController::await_notice(PodId id) {
  if (!params_.monitor_interval) return;
  sim_.engine.after(
      *params_.monitor_interval, Label{"jobs.late_member_noticed"},
      [this, id, generation = jobs_.pod(id).generation] {
        const Pod& member = jobs_.pod(id);
        if (member.generation == generation && is_left_out(id)) change_membership(member.job);
      },
      Phase::Control);
}

// It waits, and the others compute, or are about to.
bool JobController::is_left_out(PodId id) const {
  const Pod& pod = jobs_.pod(id);
  const JobPhase phase = jobs_.job(pod.job).phase;
  const bool has_begun =
      phase == JobPhase::Running || (phase == JobPhase::Starting && !is_gathering(pod.job));
  return has_begun && !states_[pod.job].is_suspending && runs_[id].is_up && !pod.takes_part;
}

// All processes are started anew, on the nodes where they are.
void JobController::change_membership(JobId id) {
  ORRERY_MARK("jobs.membership_changed");
  JobState& state = states_[id];
  gang_stops(id, {});
  ++state.membership_changes;
  ++counters_.membership_changes;
  RecoveryRow& row = *recoveries_.find(state.run.recovery);
  row.is_membership_change = true;
  row.detected = row.failed;
  free_ranks(id);
  gang_gathers(id);
}

// Whenever a member comes up or goes.
void JobController::call_members(JobId id) {
  const Job& job = jobs_.job(id);
  JobState& state = states_[id];
  bool are_enough = true, are_all = true;
  for (uint32_t g = 0; g < static_cast<uint32_t>(job.gangs); ++g) {
    const Gang& gang = jobs_.gang({job.first_gang.index + g});
    are_enough = are_enough && gang.up >= gang.min_available;
    are_all = are_all && gang.up == gang.pods;
  }
  if (!are_enough || are_all) sim_.engine.cancel(state.event);
  if (!are_enough) {
    state.called = kNever;
  } else if (state.called == kNever) {
    state.called = sim_.engine.now();
  }
  if (!has_quorum(job)) {
    ORRERY_MARK("jobs.quorum_lost_while_gathering");
    return set_phase(id, JobPhase::Pending);
  }
  if (are_all) return begin_with_those_up(id);
  if (!are_enough || sim_.engine.is_pending(state.event)) return;
  // Members that come up in one instant are there together.
  state.event = sim_.engine.after(
      params_.last_call, Label{"jobs.last_call_over"}, [this, id] { begin_with_those_up(id); },
      Phase::Control);
}

void JobController::begin_with_those_up(JobId id) {
  const Job& job = jobs_.job(id);
  states_[id].barrier = sim_.engine.now();
  JobTable::for_each_pod(job.first_pod, job.pods,
                         [&](PodId pod) { jobs_.pod(pod).takes_part = runs_[pod].is_up; });
  const JobTable::Members members = jobs_.taking_part(id);
  gang_starts_.emit({.job = job.serial,
                     .called = states_[id].called,
                     .started = sim_.engine.now(),
                     .members = members.pods,
                     .pods = job.pods,
                     .gpus = members.gpus});
  gang_starts(id);
}

}  // namespace orrery
