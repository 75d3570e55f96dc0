#include "models/cluster/cluster.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <span>
#include <utility>

#include "models/scenario/scenario_checks.hpp"
#include "models/scheduling/typical_pods.hpp"
#include "models/workload/sources/permuted_ties.hpp"
#include "sim/core/check.hpp"

namespace orrery {
namespace {

JobControllerParams controller_params(const Scenario& scenario) {
  JobControllerParams params = scenario.workload.controller;
  params.record_pods = scenario.record.pods;
  return params;
}

bool is_counting(const PolicyParams& policy) { return policy.driver == Driver::Counting; }

bool preempts(const ProfileParams& profile) {
  return has_trait(profile, Trait::Preempts) || has_trait(profile, Trait::PreemptsGangs);
}

Arrivals arrivals_of(const PolicyParams& policy) {
  if (!policy.job_queue) return Arrivals::CreatePods;
  return is_counting(policy) ? Arrivals::Count : Arrivals::Hold;
}

JobQueueSurroundings surroundings_of(const Scenario& scenario) {
  const bool counts = is_counting(scenario.policy);
  return {.is_counting = counts,
          .chooses_nodes = !counts && has_trait(scenario.policy, Trait::HeedsQueueNodes),
          .overruns = scenario.workload.controller.overruns,
          .record_decisions = scenario.record.attempts};
}

std::vector<GpuPower> power_of(const std::vector<Machine>& machines) {
  std::vector<GpuPower> power;
  for (const Machine& m : machines) {
    power.push_back({m.gpu.idle_watts, m.gpu.spin_watts, m.gpu.training_watts});
  }
  return power;
}

std::vector<std::unique_ptr<JobSource>> with_ties_permuted(
    std::vector<std::unique_ptr<JobSource>> sources, Rng rng) {
  JobSources merged;
  for (auto& source : sources) merged.add(std::move(source));
  std::vector<std::unique_ptr<JobSource>> one;
  one.push_back(std::make_unique<PermutedTies>(std::move(merged), rng));
  return one;
}

// Returns nothing if workload.typical_pods is absent or the workload has no pods.
std::optional<Fragmentation> fragmentation_of(const ClusterState& state,
                                              const WorkloadParams& workload,
                                              const RngStreams& rng) {
  const std::vector<TypicalPod> pods = typical_pods_of(workload, rng);
  if (pods.empty()) return std::nullopt;
  return Fragmentation{state, pods};
}

NodeNames names_of(const BuiltPools& built) {
  NodeNames names{.machines = {}, .pools = built.pools, .pool_of = built.pool_of};
  for (const Machine& m : built.machines) names.machines.emplace_back(m.name);
  return names;
}

std::unique_ptr<Storage> storage_of(Sim sim, const StorageParams& params, size_t nodes) {
  if (params.names().empty()) return nullptr;
  return std::make_unique<Storage>(sim, params, static_cast<uint32_t>(nodes));
}

}  // namespace

Ground::Ground(const Scenario& scenario) {
  const FabricParams& params = scenario.network.fabric;
  const bool has_fabric = scenario.network.level == NetworkLevel::Flow;
  std::optional<FabricFile> file;
  if (has_fabric && !params.file.empty()) file = read_fabric_file(params.file);
  std::span<const uint32_t> leaf_of;
  if (file && file->errors.empty()) leaf_of = file->group_of;
  built = build_nodes(scenario.cluster, state, scenario.run.seed, leaf_of);
  if (!has_fabric || !built.error.empty()) return;
  const std::vector<FabricNode> nodes = fabric_nodes(state, built.machines);
  fabric = file ? build_fabric(params, *file, nodes) : build_fabric(params, nodes);
}

Cluster::Cluster(Sim sim, const Scenario& scenario, Ground& ground)
    : sim_{sim},
      run_{scenario.run},
      failure_logs_{scenario.faults.logs},
      ground_{ground},
      presence_{ground_.state,
                {.boots = scenario.control_plane.level != ControlPlaneLevel::None,
                 .absent = absent_at_start(scenario, ground_.built)}},
      storage_{storage_of(sim, scenario.storage, ground.state.nodes())},
      controller_{sim,
                  ground_.state,
                  ground_.jobs,
                  controller_params(scenario),
                  arrivals_of(scenario.policy),
                  storage_.get()},
      sources_{make_job_sources(scenario.workload, sim.rng, ground.state.gpus_total() * kMilli,
                                takes_gpus(scenario.policy))},
      fragmentation_{fragmentation_of(ground.state, scenario.workload, sim.rng)},
      scheduler_{sim,
                 ground_.state,
                 ground_.jobs,
                 controller_,
                 scenario.policy,
                 scenario.record.attempts,
                 fragmentation_ ? &*fragmentation_ : nullptr},
      faults_{sim, ground_.state, presence_, controller_, ground_.jobs, scenario.faults},
      rank_faults_{sim, controller_, ground_.jobs, scenario.faults.ranks},
      usage_{sim, ground_.state, ground_.jobs,
             GpuPowers{ground_.state, power_of(ground_.built.machines), scenario.cluster.power,
                       sim.rng}},
      node_usage_{sim, ground_.state, names_of(ground_.built)},
      timeline_{sim,
                ground_.state,
                ground_.jobs,
                usage_,
                scenario.record.timeline,
                {.pods_pending = [this] { return uint64_t{scheduler_.pods_pending()}; },
                 .gangs_pending = [this] { return uint64_t{scheduler_.gangs_pending()}; },
                 .is_over = [this] { return !run_.until && is_over(); }}},
      statistics_{sim, ground_.jobs},
      deadlocks_{sim, ground_.state, ground_.jobs, scenario.record.deadlocks},
      too_large_{ground_.state, ground_.jobs},
      few_servers_{ground_.jobs} {
  make_control_plane(scenario);
  make_network(scenario);
  if (storage_) storage_usage_.emplace(sim, *storage_);
  if (scenario.record.cardiogram) {
    cardiogram_.emplace(sim, ground_.jobs, controller_, steps_ ? &*steps_ : nullptr,
                        usage_.powers(), *scenario.record.cardiogram);
  }
  if (fragmentation_) packing_.emplace(sim, ground_.state, ground_.jobs, *fragmentation_);
  if (scenario.policy.job_queue) {
    job_queue_.emplace(sim, ground_.state, ground_.jobs, controller_, *scenario.policy.job_queue,
                       ground_.built.machines, surroundings_of(scenario));
  }
  const auto is_service = [](const JobSourceParams& source) {
    return std::holds_alternative<ServiceParams>(source);
  };
  if (std::ranges::any_of(scenario.workload.sources, is_service)) {
    services_.emplace(sim, ground_.jobs, controller_);
  }
  make_controllers(scenario);
  deadlocks_.foresee_preemption(preempts(scenario.policy));
  connect_news();
  connect_samples();
  compress_retries(scenario);
}

void Cluster::make_network(const Scenario& scenario) {
  if (scenario.network.level == NetworkLevel::Flow) {
    network_.emplace(sim_, scenario.network, ground_.fabric.fabric);
    link_faults_.emplace(sim_, *network_, scenario.faults.links);
    scheduler_.read_nic_errors([this](Time now) { return network_->state().nic_errors(now); });
  }
  if (scenario.network.level != NetworkLevel::None) {
    Network* const network = network_ ? &*network_ : nullptr;
    steps_.emplace(sim_,
                   GangTraffic{ground_.state, ground_.jobs, ground_.built.machines, network,
                               ExchangeTimes{scenario.network.exchanges, scenario.network.sharp}},
                   ground_.jobs, controller_, network, storage_.get(), scenario.workload.steps);
    controller_.use(*steps_);
  }
  if (network_) network_usage_.emplace(sim_, *network_, *steps_);
}

void Ground::check(const Scenario& scenario, const config::Node& root,
                   Diagnostics& diagnostics) const {
  const Position at = root["cluster"].position;
  if (!built.error.empty()) {
    diagnostics.error(at, "cluster.openb_nodes", built.error);
  } else if (state.nodes() == 0) {
    diagnostics.error(at, "cluster", "has no nodes");
  } else {
    scenario.faults.check(state, root["faults"], diagnostics);
    check_control_plane(scenario.control_plane, built, root["control_plane"], diagnostics);
    const config::Node& network = root["network"];
    const config::Node* const section = network.find("fabric");
    report_mistakes(fabric.mistakes, section != nullptr ? *section : network, "network.fabric",
                    diagnostics);
    Checker checker{root, "", diagnostics};
    if (scenario.network.level == NetworkLevel::Flow && fabric.mistakes.empty()) {
      scenario.faults.links.check(fabric.fabric, root["faults"]["links"], diagnostics);
    }
    check_machines(scenario, built.machines, checker);
    check_peaks(scenario, state, built.machines, checker);
    check_retries(scenario, state, checker);
    check_pod_sizes(scenario, state, checker);
    diagnostics.settle(facts_of(scenario, built.machines, fabric.fabric), {});
  }
}

void Cluster::check(const config::Document& document, Diagnostics& diagnostics) {
  const config::Node& root = document.root;
  const config::Node& listed = root["workload"]["sources"];
  for (size_t i = 0; i < sources_.size(); ++i) {
    sources_[i]->peek();
    if (const auto error = sources_[i]->error(); error) {
      std::string path = "workload.sources[";
      path += std::to_string(i) + "]";
      const config::Node& source = i < listed.items.size() ? listed.items[i] : root;
      // An error about a parameter begins with the parameter's name.
      const config::Node* const field = source.find(error->substr(0, error->find(':')));
      diagnostics.error(field != nullptr ? field->position : source.position, path, *error);
    }
  }
  read_failure_logs(root["faults"], diagnostics);
}

void Cluster::read_failure_logs(const config::Node& section, Diagnostics& diagnostics) {
  const config::Node& listed = section["logs"];
  for (size_t i = 0; i < failure_logs_.size(); ++i) {
    FailureLog log = read_failure_log(failure_logs_[i]);
    if (!log.error.empty()) {
      const Position& at = i < listed.items.size() ? listed.items[i].position : section.position;
      diagnostics.error(at, "faults.logs[" + std::to_string(i) + "]", log.error);
      continue;
    }
    for (std::string& note : faults_.replay(std::move(log), failure_logs_[i])) {
      fault_notes_.push_back(std::move(note));
    }
  }
}

void Cluster::start() {
  if (run_.permute_ties) {
    sources_ = with_ties_permuted(std::move(sources_), sim_.rng.stream("workload.ties"));
  }
  for (auto& source : sources_) controller_.add_source(std::move(source));
  sources_.clear();
  faults_.start();
  rank_faults_.start();
  if (link_faults_) link_faults_->start();
  if (control_plane_) control_plane_->start();
  if (nodes_) nodes_->start();
  if (controllers_) controllers_->start();
  timeline_.start(run_.until ? Time{} + *run_.until : Time::max());
  if (cardiogram_) cardiogram_->start();
  start_changes();
  controller_.start();
  if (!run_.until) watch_for_stall(UINT64_MAX);
}

void Cluster::start_changes() {
  for (size_t i = 0; i < run_.changes.size(); ++i) {
    sim_.engine.at(
        Time{} + run_.changes[i].at, Label{"run.change"},
        [this, i] {
          const ProfileParams& profile =
              profile_of_change_ ? profile_of_change_(i) : run_.changes[i].policy;
          scheduler_.change_profile(profile);
          deadlocks_.foresee_preemption(preempts(profile));
        },
        Phase::Control);
  }
}

uint64_t Cluster::progress() const {
  const auto& c = controller_.counters();
  return c.submitted + c.completed + c.failed + c.cancelled + scheduler_.progress() + 1;
}

// True if something will happen without another scheduling attempt, even if much later: an arrival,
// a new node, the end of a pod or progress of a job.
bool Cluster::is_work_ahead() const {
  bool is_ahead = !controller_.sources().is_empty() || (nodes_ && nodes_->has_more_to_come()) ||
                  (node_groups_ && node_groups_->is_adding(scheduler_.pods_pending() > 0)) ||
                  scheduler_.is_preempting() || controller_.pods_terminating() > 0;
  ground_.jobs.for_each_job([&](JobId id) {
    is_ahead |= controller_.goes_on(id) && !(steps_ && steps_->waits_in_vain(id));
  });
  return is_ahead;
}

void Cluster::phase_changed(JobId /*job*/, JobPhase /*before*/, JobPhase after) {
  if (orrery::is_over(after)) stop_when_done();
}

void Cluster::stop_when_done() {
  if (run_.until || controller_.jobs_unfinished() > 1) return;
  sim_.engine.after(
      Duration{}, Label{"run.all_done"},
      [this] {
        if (is_over()) sim_.engine.stop();
      },
      Phase::Audit);
}

void Cluster::watch_for_stall(uint64_t progress_before) {
  if (is_over()) return sim_.engine.stop();
  if (progress() == progress_before && !is_work_ahead()) {
    ORRERY_MARK("run.stalled");
    has_stalled_ = true;
    return sim_.engine.stop();
  }
  const uint64_t now_at = progress();
  sim_.engine.after(
      run_.stall_limit, Label{"run.stall_watch"}, [this, now_at] { watch_for_stall(now_at); },
      Phase::Audit);
}

// Lets the scheduler execute repeated rounds of futile attempts as one (class RetryRounds). Does
// nothing if run.compress_retries is false, or if something may observe single attempts: API
// servers, node groups, the cardiogram or a policy that is not built in.
void Cluster::compress_retries(const Scenario& scenario) {
  const auto is_loaded = [](const ChangeParams& change) { return has_loaded(change.policy); };
  if (!run_.compress_retries || control_plane_ || node_groups_ || cardiogram_ ||
      has_loaded(scenario.policy) || std::ranges::any_of(run_.changes, is_loaded)) {
    return;
  }
  scheduler_.compress_rounds(run_.until ? Time{} + *run_.until : Time::max(), !run_.until);
  deadlocks_.deadlocks_changed.connect(scheduler_, &Scheduler::round_interrupted);
}

// Stops a run without `until` if only futile attempts are left: no job runs, no job will arrive,
// every node is up, and the number of futile attempts has reached run.futile_attempts times the
// number of pending pods. The count restarts when a pod is bound or created, or the policy changes.
// Without this stop, the attempts could go on until run.stall_limit, at up to 3,000 a simulated
// second.
void Cluster::stop_if_futile() {
  if (run_.until || is_work_ahead() || (controllers_ && controllers_->holds_back())) return;
  if (controller_.unobserved_ends().pods > 0 || scheduler_.pods_binding() > 0) return;
  const uint64_t limit = run_.futile_attempts * scheduler_.pods_pending();
  if (scheduler_.attempts_in_vain() < limit || has_stalled_) return;
  if (ground_.state.up().count() < ground_.state.nodes()) return;
  bool moves = false;  // a pod's state will change by itself
  ground_.jobs.for_each_job([&](JobId id) {
    const Job& job = ground_.jobs.job(id);
    JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId at) {
      const Pod& pod = ground_.jobs.pod(at);
      moves = moves || pod.state == PodState::Absent || pod.state == PodState::Running ||
              (pod.state == PodState::Bound && !pod.gang.is_valid());
    });
  });
  if (moves) return;
  ORRERY_MARK("run.futile");
  has_stalled_ = is_futile_ = true;
  sim_.engine.stop();
}

void Cluster::audit() const {
  int64_t gpu_milli = scheduler_.reserved_gpu_milli() + controller_.unobserved_ends().gpu_milli;
  ground_.jobs.for_each_job([&](JobId id) {
    const Job& job = ground_.jobs.job(id);
    JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId pod) {
      const Pod& p = ground_.jobs.pod(pod);
      if (p.state != PodState::Bound && p.state != PodState::Running) return;
      ORRERY_CHECK(ground_.state.up().contains(p.node), "no pod is bound to a node that is down");
      gpu_milli += ground_.jobs.request(pod).resources[Resource::Gpu];
    });
  });
  if (job_queue_) job_queue_->audit();
  if (network_) network_->flows().audit();
  if (control_plane_) control_plane_->audit();
  if (storage_) storage_->flows().audit();
  ORRERY_CHECK(gpu_milli == ground_.state.gpu_milli_allocated(),
               "GPUs in use are those of bound and reserved pods");
}

}  // namespace orrery
