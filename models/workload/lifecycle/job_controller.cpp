#include "models/workload/lifecycle/job_controller.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "sim/core/check.hpp"

namespace orrery {
JobController::JobController(Sim sim, ClusterState& cluster, JobTable& jobs,
                             const JobControllerParams& params, Arrivals arrivals, Storage* storage)
    : sim_{sim},
      jobs_{jobs},
      termination_{params.termination},
      arrivals_{arrivals},
      phases_{jobs, *this},
      accounts_{sim, jobs, params.record_pods},
      recoveries_{sim, recovered},
      pods_{sim, cluster, jobs, params, accounts_, *this},
      runs_{sim, jobs, params, accounts_, phases_, recoveries_, *this, storage, cluster.nodes()},
      replacements_{sim.engine, jobs, params, accounts_, pods_.creation()},
      gangs_{sim,   jobs,  params,      accounts_,     phases_,
             pods_, runs_, recoveries_, replacements_, *this},
      companions_{sim, jobs, accounts_, pods_, replacements_},
      independent_{sim.engine, jobs,        accounts_,     phases_, pods_,
                   runs_,      recoveries_, replacements_, *this},
      services_{sim.engine, jobs, phases_, pods_, runs_, recoveries_, *this},
      counted_{sim.engine, jobs, accounts_, phases_, runs_, *this},
      cancellations_{sim.engine, jobs, accounts_} {
  dead_pods_gone.connect(*this, &JobController::dead_pods_deleted);
  pod_assigned.connect([this](PodId pod, NodeId) { accounts_.reserved(pod); });
  pod_unassigned.connect([this](PodId pod, NodeId) { accounts_.unreserved(pod); });
  gangs_.over.connect([this](JobId job, const JobOver& how) { end_job(job, how); });
  companions_.over.connect([this](JobId job, const JobOver& how) {
    if (phases_.of(job) == JobPhase::Running) runs_.lose(job);
    end_job(job, how);
  });
  independent_.over.connect([this](JobId job, const JobOver& how) { end_job(job, how); });
  services_.over.connect([this](JobId job, const JobOver& how) { end_job(job, how); });
  services_.scaled_down.connect([this](JobId job) { independent_.refresh_phase(job); });
  counted_.over.connect([this](JobId job, const JobOver& how) { end_job(job, how); });
  cancellations_.over.connect([this](JobId job, const JobOver& how) { end_job(job, how); });
}

void JobController::use(PodApi& api) {
  pods_.use(api);
  replacements_.expect_deletions();
}

void JobController::connect(NodeNews& nodes) {
  nodes.node_down.connect([this](NodeId node, NodeReason) { node_failed(node); });
}

// ---- arrival

void JobController::schedule_arrival() {
  JobSource* const source = sources_.next();
  if (sources_.error()) sim_.engine.stop();
  if (source == nullptr || sources_.error()) return;
  const Time when = source->peek()->submitted;
  ORRERY_CHECK(when >= sim_.engine.now(), "sources deliver jobs in order of submission");
  sim_.engine.at(when, Label{"jobs.arrived"}, [this] { admit_arrivals(); });
}

void JobController::admit_arrivals() {
  for (JobSource* source = sources_.next(); source != nullptr; source = sources_.next()) {
    if (source->peek()->submitted > sim_.engine.now()) break;
    admit(*source->peek());
    source->pop();
  }
  schedule_arrival();
}

void JobController::admit(const JobSpec& spec) {
  const JobId id = arrivals_ == Arrivals::Count ? jobs_.add_counted(spec) : jobs_.add(spec);
  const Job& job = jobs_.job(id);
  for (uint32_t g = 0; g < static_cast<uint32_t>(job.gangs); ++g) {
    jobs_.gang({job.first_gang.index + g}).created_at = sim_.engine.now();
  }
  accounts_.admitted(id);
  pods_.admitted(id);
  runs_.admitted(id);
  gangs_.admitted(id);
  companions_.admitted(id);
  independent_.admitted(id);
  services_.admitted(id);
  counted_.admitted(id);
  cancellations_.admitted(id);
  job_arrived.emit(id);
  if (arrivals_ == Arrivals::CreatePods) pods_.creation().want_all(id);
}

void JobController::release(JobId id, std::optional<NodeSet> nodes) {
  ORRERY_CHECK(arrivals_ == Arrivals::Hold, "only held jobs are released");
  jobs_.job(id).nodes = std::move(nodes);
  pods_.creation().want_all(id);
}

void JobController::reject(JobId id) {
  ORRERY_CHECK(arrivals_ != Arrivals::CreatePods && phases_.of(id) == JobPhase::Pending,
               "only held jobs are rejected");
  end_job(id, JobOver::failed(EndCause::Error));
}

// ---- pod events

void JobController::pod_bound(PodId id) {
  pods_.bound(id);
  jobs_.pod(id).gang.is_valid() ? gangs_.bound(id) : independent_.bound(id);
}

void JobController::node_failed(NodeId node) {
  std::vector<PodId> victims;
  std::vector<JobId> struck;
  runs_.node_failed(node);
  pods_.collect(node, victims);
  std::ranges::sort(victims);
  std::erase_if(victims, [&](PodId id) {
    const bool was_left = is_over(phases_.of(jobs_.pod(id).job));
    if (was_left) lose_left(id, PodEnd::NodeFailed);
    return was_left;
  });
  for (const PodId id : victims) {
    const JobId job = jobs_.pod(id).job;
    if (!is_gang(job)) independent_.struck(id, node);
    if (is_gang(job) && !gangs_.is_needed(id)) continue;
    if (!struck.empty() && struck.back() == job) continue;  // pods of a job are adjacent
    struck.push_back(job);
    if (is_gang(job)) gangs_.stops(job, node);
  }
  const auto is_struck = [&](JobId job) { return std::ranges::find(struck, job) != struck.end(); };
  for (const PodId id : victims) {
    const JobId job = jobs_.pod(id).job;
    pods_.remove(id, PodEnd::NodeFailed);
    if (is_gang(job)) gangs_.member_lost(id);
    // A gang that goes on replaces the pod now. A stopped gang recreates lost pods when it
    // restarts.
    const bool goes_on = phases_.of(job) == JobPhase::Pending || !is_struck(job);
    const bool is_replaced = !is_gang(job) || goes_on;
    replacements_.lost({.life = {id, jobs_.pod(id).generation},
                        .is_replaced = is_replaced,
                        .fails_job = !is_gang(job) && independent_.is_failing(job)});
  }
  accounts_.counters().pods_lost += victims.size();
  for (const JobId id : struck) is_gang(id) ? gangs_.node_lost(id) : independent_.job_struck(id);
}

void JobController::dead_pods_deleted(std::span<const DeadPod> pods) {
  std::vector<DeadPod> replaced;
  for (const DeadPod& life : pods) {
    const std::optional<LostPod> lost = replacements_.deleted(life);
    if (!lost) continue;
    const JobId job = jobs_.pod(life.pod).job;
    const Time now = sim_.engine.now();
    if (auto* const row = recoveries_.find(runs_.of(life.pod).recovery)) {
      row->detected = row->detected == kNever ? now : std::min(row->detected, now);
    }
    if (lost->fails_job) {
      end_job(job, JobOver::failed(EndCause::NodeFailed));
    } else if (lost->is_replaced) {
      replaced.push_back(life);
    } else {
      gangs_.detected_now(job);
    }
  }
  for (const DeadPod& life : replaced) {
    const Pod& pod = jobs_.pod(life.pod);
    if (pod.generation != life.generation) continue;
    replacements_.replace_after(replacements_.delay(pod.job), life);
  }
}

bool JobController::rank_died(PodId id, int64_t gpu_milli) {
  return is_gang(jobs_.pod(id).job) && gangs_.rank_died(id, gpu_milli);
}

bool JobController::abort(JobId id) { return is_gang(id) && gangs_.abort(id); }

// The pod computes until its containers have ended. Then its unsaved compute is lost.
void JobController::terminate(PodId id, const Disruption& why) {
  if (jobs_.pod(id).is_terminating) return;  // a second deletion has no effect
  const PodState state = jobs_.pod(id).state;
  const bool has_containers = state == PodState::Bound || state == PodState::Running;
  if (termination_ == Duration{} || !has_containers) return terminated(id, why);
  ++terminating_;
  jobs_.pod(id).is_terminating = true;
  sim_.engine.after(
      termination_, Label{"jobs.pod_terminated"},
      [this, id, why, generation = jobs_.pod(id).generation] {
        --terminating_;
        if (jobs_.pod(id).generation == generation) terminated(id, why);
      },
      Phase::Control);
}

// A disruption is not counted as a failure. (Kubernetes does the same under a pod failure policy
// that ignores disruptions.) The controller replaces the pod at once, unless the pod's gang
// restarts as a whole.
void JobController::terminated(PodId id, const Disruption& why) {
  const Pod& pod = jobs_.pod(id);
  if (pod.state == PodState::Absent || pod.state == PodState::Done) return;
  const JobId job = pod.job;
  if (is_over(phases_.of(job))) return lose_left(id, why.end);
  const GpuTime& gpu_time = accounts_.of(job).gpu_time;
  const bool had_node = pod.state != PodState::Pending;
  const bool is_needed = is_gang(job) && gangs_.is_needed(id);
  const int128_t lost_before = gpu_time.lost;
  if (had_node && !is_gang(job)) independent_.stops(id);
  if (had_node && is_needed) gangs_.stops(job, {});
  if (why.end == PodEnd::Evicted) {
    accounts_.evicted(job, gpu_time.lost - lost_before);
  } else {
    accounts_.preempted(job, why.by_priority, gpu_time.lost - lost_before);
  }
  pods_.remove(id, why.end);
  const JobPhase phase = phases_.of(job);
  const bool is_alone = !is_gang(job) || !comes_back_whole(phase);
  if (phase == JobPhase::Pending || (!is_needed && is_alone) || !had_node) {
    pods_.creation().want(id);
    pods_.creation().create_wanted(id);
  }
  if (!had_node) return;
  is_gang(job) ? gangs_.preempted(id, is_needed) : independent_.refresh_phase(job);
}

Duration JobController::unsaved(PodId id) const {
  const JobId job = jobs_.pod(id).job;
  if (!jobs_.is_live(job) || is_over(phases_.of(job))) return {};
  return is_gang(job) ? runs_.unsaved(job) : runs_.unsaved(id);
}

// ---- decisions of a job queue

void JobController::set_pace(JobId id, Pace pace) {
  ORRERY_CHECK(jobs_.job(id).is_counted() || is_gang(id),
               "only gangs and counted jobs have a pace");
  jobs_.job(id).is_counted() ? counted_.set_pace(id, pace) : runs_.set_pace(id, pace);
}

bool JobController::suspend(JobId id, Duration write, Duration restart) {
  if (jobs_.job(id).is_counted()) return counted_.suspend(id, write, restart);
  return is_gang(id) && gangs_.suspend(id, write, restart);
}

void JobController::discard_unsaved(JobId id) {
  if (is_gang(id) && phases_.of(id) == JobPhase::Running) runs_.lose(id);
}

void JobController::resume(JobId id) {
  ORRERY_CHECK(arrivals_ == Arrivals::CreatePods, "a job queue releases its jobs itself");
  ORRERY_CHECK(phases_.of(id) == JobPhase::Pending, "a suspended job is pending");
  pods_.creation().want_all(id);
}

// ---- queries

JobUsage JobController::usage(JobId id) const {
  const JobPhase phase = phases_.of(id);
  const int64_t bound = accounts_.of(id).bound_gpu_milli;
  const bool runs = phase == JobPhase::Running;
  const int64_t run = runs_.of(id).gpu_milli + runs_.of(id).serving_gpu_milli;
  return {.bound = bound,
          .busy = runs                      ? run
                  : phase == JobPhase::Hung ? bound
                                            : 0,
          .computing = runs ? computing(id) : 0};
}

bool JobController::goes_on(JobId id) const {
  if (jobs_.job(id).spec.service)
    return true;  // a service runs until it ends or the simulation ends
  if (cancellations_.is_ahead(id)) return true;
  if (phases_.of(id) == JobPhase::Pending || is_over(phases_.of(id))) return false;
  return !is_gang(id) || !gangs_.hangs_for_ever(id);
}

}  // namespace orrery
