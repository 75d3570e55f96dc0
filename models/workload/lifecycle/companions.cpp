#include "models/workload/lifecycle/companions.hpp"

#include <algorithm>

#include "sim/core/check.hpp"

namespace orrery {

Companions::Companions(Sim sim, JobTable& jobs, JobAccounts& accounts, PodLives& pods,
                       Replacements& replacements)
    : engine_{sim.engine},
      jobs_{jobs},
      accounts_{accounts},
      pods_{pods},
      replacements_{replacements},
      ends_{sim.rng, jobs} {
  pods_.starts().start_known.connect([this](PodId pod) {
    if (is_one(pod)) start_known(pod);
  });
  pods_.leaving.connect([this](PodId pod, PodEnd) {
    if (is_one(pod)) engine_.cancel(states_[pod].exits);
  });
}

void Companions::admitted(JobId id) {
  if (jobs_.pods_bound() > states_.size()) states_.resize(jobs_.pods_bound());
  if (jobs_.roles_bound() > role_ends_.size()) role_ends_.resize(jobs_.roles_bound());
  const Job& job = jobs_.job(id);
  for (uint32_t r = 0; r < static_cast<uint32_t>(job.roles); ++r) {
    role_ends_[{job.first_role.index + r}] = {};
  }
  JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId pod) { states_[pod] = {}; });
}

bool Companions::is_one(PodId id) const {
  return jobs_.pod(id).gang.is_valid() && !jobs_.role_spec(id).takes_part;
}

void Companions::start_known(PodId id) {
  // If the job is over, the pod keeps running and has no planned end.
  if (is_over(jobs_.job(jobs_.pod(id).job).phase)) return;
  State& state = states_[id];
  const auto end = ends_.drawn(id, state.starts++, {});
  if (!end) return;
  const Time when = jobs_.pod(id).started + end->ending.after;
  state.exits = engine_.at(when, Label{"jobs.companion_exits"},
                           [this, id, ending = end->ending] { exits(id, ending); });
}

void Companions::exits(PodId id, const Ending& ending) {
  ORRERY_MARK("jobs.companion_exited");
  const RoleSpec& role = jobs_.role_spec(id);
  const bool fails = ending.exit_code != 0;
  const bool comes_back = role_ends_[jobs_.pod(id).role].restarts_after(role, ending.exit_code);
  const JobId job = jobs_.pod(id).job;
  pods_.remove(id, PodEnd::Exited, ending);
  if (fails) ++accounts_.counters().pods_failed;
  if (comes_back) {
    return replacements_.replace_after(replacements_.delay(job), {id, jobs_.pod(id).generation});
  }
  if (fails && role.failure == RoleFailure::FailsJob) {
    return over.emit(job, JobOver::failed(ending));
  }
  retire(id);
}

// The pod is not recreated, so from now on its gang starts without this pod.
void Companions::retire(PodId id) {
  pods_.creation().set_retired(id, true);
  const auto lower = [this](auto& group) {  // limits a minimum to the pods that may exist
    int32_t may_come = 0;
    JobTable::for_each_pod(group.first, group.pods, [&](PodId pod) {
      if (!pods_.creation().is_retired(pod)) ++may_come;
    });
    group.min_available = std::min(group.min_available, may_come);
  };
  lower(jobs_.gang(jobs_.pod(id).gang));
  lower(jobs_.role(jobs_.pod(id).role));
}

}  // namespace orrery
