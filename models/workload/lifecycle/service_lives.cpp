#include "models/workload/lifecycle/service_lives.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <vector>

#include "models/workload/services/service_params.hpp"
#include "sim/core/check.hpp"

namespace orrery {

ServiceLives::ServiceLives(Engine& engine, const JobTable& jobs, JobPhases& phases, PodLives& pods,
                           TrainingRuns& runs, RecoveryLog& recoveries, JobNews& news)
    : engine_{engine},
      jobs_{jobs},
      phases_{phases},
      pods_{pods},
      runs_{runs},
      recoveries_{recoveries},
      news_{news} {}

void ServiceLives::admitted(JobId id) {
  if (id.index >= states_.size()) states_.resize(jobs_.jobs_bound());
  states_[id] = {};
  const Job& job = jobs_.job(id);
  if (!job.spec.service) return;
  State& state = states_[id];
  state.replicas = job.spec.service->replicas;
  runs_.of(id).pace.computing = 0;  // until set_use()
  resume(runs_.of(id).progress, engine_.now());
  JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId pod) {
    pods_.creation().set_retired(pod, jobs_.pod(pod).rank >= state.replicas);
  });
  if (!job.spec.service->lasts) return;
  state.ends = engine_.after(*job.spec.service->lasts, Label{"jobs.service_ends"}, [this, id] {
    const bool runs = phases_.of(id) == JobPhase::Running;
    over.emit(id, runs ? JobOver{} : JobOver{JobPhase::Failed, EndCause::None, kNoExitCode});
  });
}

void ServiceLives::end(JobId id) { engine_.cancel(states_[id].ends); }

void ServiceLives::set_use(JobId id, double use) {
  Pace& pace = runs_.of(id).pace;
  const int64_t computing = std::llround(use * Pace::kWhole);
  if (computing == pace.computing) return;
  runs_.keep(id);  // all compute so far is useful: answered requests are never undone
  pace.computing = computing;
  news_.pace_changed.emit(id);
}

void ServiceLives::scale(JobId id, int32_t replicas) {
  const Job& job = jobs_.job(id);
  State& state = states_[id];
  ORRERY_CHECK(job.spec.service && replicas > 0 && replicas <= job.pods,
               "a service has at least one and at most all of its pods");
  int32_t missing = replicas - state.replicas;
  state.replicas = replicas;
  if (missing < 0) return retire(id, -missing);
  PodCreation& creation = pods_.creation();
  JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId pod) {
    if (missing == 0 || !creation.is_retired(pod)) return;
    --missing;
    creation.set_retired(pod, false);
    creation.want(pod);
  });
  creation.create_wanted(job.first_pod);
}

// The order in which a ReplicaSet deletes pods: first pods without a node, then pods that are not
// running, then pods on the nodes with the most replicas, then the pods that started last. Among
// equals, the pod with the highest Pod::rank goes first. Deletion cost and restarts have no effect
// here. Upstream compares start times in logarithmic buckets; here they are compared exactly.
void ServiceLives::retire(JobId id, int32_t count) {
  const Job& job = jobs_.job(id);
  PodCreation& creation = pods_.creation();
  std::map<NodeId, int32_t> on_node;
  std::vector<PodId> pods;
  JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId pod) {
    if (creation.is_retired(pod)) return;
    pods.push_back(pod);
    if (jobs_.pod(pod).node.is_valid()) ++on_node[jobs_.pod(pod).node];
  });
  const auto key = [&](PodId id_of_pod) {
    const Pod& pod = jobs_.pod(id_of_pod);
    const bool has_node = pod.node.is_valid();
    const bool runs = has_node && pod.started <= engine_.now();
    const int32_t together = has_node ? on_node.at(pod.node) : 0;
    return std::tuple{has_node, runs, -together, runs ? -pod.started.ns : 0, -pod.rank};
  };
  std::ranges::sort(pods, {}, key);
  pods.resize(static_cast<size_t>(count));
  for (const PodId pod : pods) {
    recoveries_.close(runs_.of(pod).recovery, engine_.now());
    pods_.remove(pod, PodEnd::ScaledDown);
    creation.forget(pod);
    runs_.of(pod) = {};
    creation.set_retired(pod, true);
  }
  scaled_down.emit(id);
}

}  // namespace orrery
