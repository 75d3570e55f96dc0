// models/workload/lifecycle/service_lifecycle.cpp -- services: pods whose number changes, and their
// end.
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <vector>

#include "models/workload/lifecycle/job_controller.hpp"
#include "models/workload/services/service_params.hpp"
#include "sim/core/check.hpp"

namespace orrery {

// Before anybody is told of it.
void JobController::begin_service(JobId id) {
  const Job& job = jobs_.job(id);
  JobState& state = states_[id];
  state.replicas = job.service->replicas;
  state.pace.computing = 0;  // until it has a load
  resume(state.run.progress, sim_.engine.now());
  JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId pod) {
    runs_[pod].is_retired = jobs_.pod(pod).rank >= state.replicas;
  });
  if (!job.service->lasts) return;
  state.event = sim_.engine.after(*job.service->lasts, Label{"jobs.service_ends"},
                                  [this, id] { end_service(id); });
}

void JobController::end_service(JobId id) {
  const bool runs = jobs_.job(id).phase == JobPhase::Running;
  end_job(id, runs ? JobPhase::Completed : JobPhase::Failed);
}

// Answered requests stay answered, so each change books all compute so far as useful.
void JobController::set_use(JobId id, double use) {
  Pace& pace = states_[id].pace;
  const int64_t computing = std::llround(use * Pace::kWhole);
  if (computing == pace.computing) return;
  keep_unsaved(gang(id));
  pace.computing = computing;
  pace_changed.emit(id);
}

void JobController::scale(JobId id, int32_t replicas) {
  const Job& job = jobs_.job(id);
  JobState& state = states_[id];
  ORRERY_CHECK(job.service && replicas > 0 && replicas <= job.pods, "it is within its limits");
  int32_t missing = replicas - state.replicas;
  state.replicas = replicas;
  if (missing < 0) return retire(id, -missing);
  JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId pod) {
    if (missing == 0 || !runs_[pod].is_retired) return;
    --missing;
    runs_[pod].is_retired = false;
    want_pod(pod);
  });
  queue_creation(id);
}

// As a ReplicaSet chooses: first those without a node, then those that do not run, then those that
// share their node with the most others, then the youngest. Its preference by deletion cost and
// restarts is left out, and ages are compared exactly.
void JobController::retire(JobId id, int32_t count) {
  const Job& job = jobs_.job(id);
  std::map<NodeId, int32_t> on_node;
  std::vector<PodId> pods;
  JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId pod) {
    if (runs_[pod].is_retired) return;
    pods.push_back(pod);
    if (jobs_.pod(pod).node.is_valid()) ++on_node[jobs_.pod(pod).node];
  });
  const auto key = [&](PodId id_of_pod) {
    const Pod& pod = jobs_.pod(id_of_pod);
    const bool has_node = pod.node.is_valid();
    const bool runs = has_node && pod.started <= sim_.engine.now();
    const int32_t together = has_node ? on_node.at(pod.node) : 0;
    return std::tuple{has_node, runs, -together, runs ? -pod.started.ns : 0, -pod.rank};
  };
  std::ranges::sort(pods, {}, key);
  pods.resize(static_cast<size_t>(count));
  for (const PodId pod : pods) {
    PodRun& run = runs_[pod];
    recoveries_.close(run.run.recovery, sim_.engine.now());
    remove_pod(pod, PodEnd::ScaledDown);
    forget_creation(pod);
    run.run = {};
    run.is_retired = true;
  }
  refresh_phase(id);
}

}  // namespace orrery
