#include "models/workload/lifecycle/rendezvous.hpp"

#include <algorithm>
#include <utility>

#include "sim/core/check.hpp"

namespace orrery {

Rendezvous::Rendezvous(Sim sim, JobTable& jobs, const JobControllerParams& params)
    : engine_{sim.engine},
      jobs_{jobs},
      params_{params},
      rows_{sim.recorder, "/events/gang_starts",
            "Starts of gangs that may run without some of their members."} {}

void Rendezvous::admitted(JobId id) {
  if (id.index >= jobs_state_.size()) jobs_state_.resize(jobs_.jobs_bound());
  if (jobs_.gangs_bound() > members_.size()) members_.resize(jobs_.gangs_bound());
  if (jobs_.pods_bound() > is_up_.size()) is_up_.resize(jobs_.pods_bound());
  if (jobs_.roles_bound() > up_in_role_.size()) up_in_role_.resize(jobs_.roles_bound());
  jobs_state_[id] = {};
  const Job& job = jobs_.job(id);
  for (uint32_t g = 0; g < static_cast<uint32_t>(job.gangs); ++g) {
    members_[{job.first_gang.index + g}] = {};
  }
  for (uint32_t r = 0; r < static_cast<uint32_t>(job.roles); ++r) {
    up_in_role_[{job.first_role.index + r}] = 0;
  }
  JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId pod) {
    is_up_[pod] = 0;
    const GangId gang = jobs_.pod(pod).gang;
    if (gang.is_valid() && jobs_.role_spec(pod).takes_part) ++members_[gang].all;
  });
  // min_available also counts pods that are no ranks, so these pods are subtracted.
  for (uint32_t g = 0; g < static_cast<uint32_t>(job.gangs); ++g) {
    const Gang& gang = jobs_.gang({job.first_gang.index + g});
    Members& members = members_[{job.first_gang.index + g}];
    members.needed = std::max(gang.min_available - (gang.pods - members.all), 1);
  }
}

void Rendezvous::await_up(PodId id) {
  const Pod& pod = jobs_.pod(id);
  if (!jobs_.role_spec(id).takes_part) return;
  engine_.at(pod.started, Label{"jobs.member_up"}, [this, id, generation = pod.generation] {
    const Pod& member = jobs_.pod(id);
    if (member.generation == generation && member.state == PodState::Bound) is_up_now(id);
  });
}

// A member that comes up while the gang gathers may join it. A member that comes up later is
// noticed after monitor_interval (absent: never), unless the gang has restarted with this member by
// then.
void Rendezvous::is_up_now(PodId id) {
  const Pod& pod = jobs_.pod(id);
  is_up_[id] = 1;
  ++members_[pod.gang].up;
  ++up_in_role_[pod.role];
  if (jobs_state_[pod.job].is_gathering) return call(pod.job);
  if (!params_.monitor_interval) return;
  engine_.after(
      *params_.monitor_interval, Label{"jobs.late_member_noticed"},
      [this, id, generation = pod.generation] {
        const Pod& member = jobs_.pod(id);
        if (member.generation == generation && is_up_[id] && !member.takes_part) noticed.emit(id);
      },
      Phase::Control);
}

void Rendezvous::leaves(PodId id) {
  if (!std::exchange(is_up_[id], 0)) return;
  --members_[jobs_.pod(id).gang].up;
  --up_in_role_[jobs_.pod(id).role];
}

void Rendezvous::begin(JobId id) {
  jobs_state_[id].called.reset();
  jobs_state_[id].is_gathering = true;
}

void Rendezvous::stop(JobId id) {
  engine_.cancel(jobs_state_[id].last_call);
  jobs_state_[id].is_gathering = false;
}

// Pods that are no ranks are counted as up here; has_quorum() requires that they have nodes.
bool Rendezvous::are_enough_up(GangId gang) const {
  if (members_[gang].up < members_[gang].needed) return false;
  const auto up = [this](RoleId role) {
    return jobs_.role_spec(role).takes_part ? up_in_role_[role] : jobs_.role(role).pods;
  };
  return jobs_.role_pods_missing(jobs_.gang(gang), up) == 0;
}

void Rendezvous::call(JobId id) {
  const Job& job = jobs_.job(id);
  State& state = jobs_state_[id];
  bool are_enough = true, are_all = true;
  for (uint32_t g = 0; g < static_cast<uint32_t>(job.gangs); ++g) {
    const GangId gang_id{job.first_gang.index + g};
    const Members& members = members_[gang_id];
    are_enough = are_enough && are_enough_up(gang_id);
    are_all = are_all && members.up == members.all;
  }
  if (!are_enough || are_all) engine_.cancel(state.last_call);
  if (!are_enough) {
    state.called.reset();
  } else if (!state.called) {
    state.called = engine_.now();
  }
  if (!jobs_.has_quorum(id)) {
    ORRERY_MARK("jobs.quorum_lost_while_gathering");
    stop(id);
    return lost.emit(id);
  }
  if (are_all) return begin_with_those_up(id);
  if (!are_enough || engine_.is_pending(state.last_call)) return;
  // Phase::Control: members that come up at the instant of this event still take part.
  state.last_call = engine_.after(
      params_.last_call, Label{"jobs.last_call_over"}, [this, id] { begin_with_those_up(id); },
      Phase::Control);
}

void Rendezvous::begin_with_those_up(JobId id) {
  const Job& job = jobs_.job(id);
  JobTable::for_each_pod(job.first_pod, job.pods,
                         [&](PodId pod) { jobs_.pod(pod).takes_part = is_up_[pod]; });
  const JobTable::Members members = jobs_.taking_part(id);
  rows_.emit({.job = job.serial,
              .called = jobs_state_[id].called.value_or(engine_.now()),
              .started = engine_.now(),
              .members = members.pods,
              .pods = job.pods,
              .gpus = members.gpus});
  stop(id);
  gathered.emit(id);
}

}  // namespace orrery
