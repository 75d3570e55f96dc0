#include "models/workload/job_controller.hpp"

#include <algorithm>

#include "sim/core/check.hpp"

namespace orrery {
namespace {

constexpr uint32_t bit(JobPhase phase) { return uint32_t{1} << static_cast<unsigned>(phase); }

// Where a job may go from each phase. Independent pods start, end and die one by one, so their job
// also moves back from Running.
constexpr std::array<uint32_t, 7> kMoves = {
    /* pending    */ bit(JobPhase::Starting) | bit(JobPhase::Running) | bit(JobPhase::Failed),
    /* starting   */ bit(JobPhase::Running) | bit(JobPhase::Hung) | bit(JobPhase::Pending) |
        bit(JobPhase::Failed),
    /* running    */ bit(JobPhase::Hung) | bit(JobPhase::Starting) | bit(JobPhase::Pending) |
        bit(JobPhase::Completed) | bit(JobPhase::Failed),
    /* hung       */ bit(JobPhase::Restarting) | bit(JobPhase::Failed),
    /* restarting */ bit(JobPhase::Pending),
    /* completed  */ 0,
    /* failed     */ 0};

}  // namespace

JobController::JobController(Sim sim, ClusterState& cluster, JobTable& jobs,
                             const JobControllerParams& params, Arrivals arrivals, Storage* storage)
    : sim_{sim},
      cluster_{cluster},
      jobs_{jobs},
      params_{params},
      arrivals_{arrivals},
      on_nodes_{cluster.nodes()},
      creation_{params.concurrent_syncs, params.pods_per_sync_max},
      recoveries_{sim, recovered},
      job_rows_{sim.recorder, "/jobs", "Jobs: identity, times of every stage, outcome, waste."} {
  if (storage != nullptr) {
    checkpoints_.emplace(*storage, jobs);
    disks_lost_.resize(cluster.nodes());
  }
  if (params.record_pods) {
    pod_rows_.emplace(sim.recorder, "/pods", "Lives of pods: one row each time a pod leaves.");
  }
}

void JobController::start() { schedule_arrival(); }

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

void JobController::admit(const JobRequest& request) {
  const JobId id = arrivals_ == Arrivals::Count ? jobs_.add_counted(request) : jobs_.add(request);
  if (id.index >= states_.size()) states_.resize(jobs_.jobs_bound());
  if (jobs_.pods_bound() > runs_.size()) {
    runs_.resize(jobs_.pods_bound());
    on_nodes_.grow(jobs_.pods_bound());
  }
  const Job& job = jobs_.job(id);
  states_[id] = {};
  JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId pod) { runs_[pod] = {}; });
  for (uint32_t g = 0; g < static_cast<uint32_t>(job.gangs); ++g) {
    jobs_.gang({job.first_gang.index + g}).created_at = sim_.engine.now();
  }
  ++counters_.submitted;
  job_arrived.emit(id);
  if (arrivals_ == Arrivals::CreatePods) want_pods(id);
}

void JobController::release(JobId id) {
  ORRERY_CHECK(arrivals_ == Arrivals::Hold, "only held jobs are released");
  want_pods(id);
}

// ---- creation of pods

void JobController::want_pods(JobId id) {
  const Job& job = jobs_.job(id);
  JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId pod) { want_pod(pod); });
  queue_creation(id);
}

void JobController::want_pod(PodId id) {
  const Pod& pod = jobs_.pod(id);
  if (pod.state != PodState::Absent || runs_[id].is_wanted || runs_[id].is_on_its_way) return;
  JobState& state = states_[pod.job];
  runs_[id].is_wanted = true;
  if (state.wanted++ == 0) state.create_from = pod.rank;
  state.create_from = std::min(state.create_from, pod.rank);
}

void JobController::queue_creation(JobId id) {
  JobState& state = states_[id];
  if (state.wanted == 0 || state.is_queued) return;
  state.is_queued = true;
  creation_.add({id, jobs_.job(id).serial});
  if (is_creating_) return;
  is_creating_ = true;
  sim_.engine.after(
      {}, Label{"jobs.create_pods"}, [this] { create_round(); }, Phase::Control);
}

void JobController::create_round() {
  const auto wanted = [this](const PodCreationQueue::Ticket& ticket) {
    const bool is_alive =
        jobs_.is_live(ticket.job) && jobs_.job(ticket.job).serial == ticket.serial;
    return is_alive ? states_[ticket.job].wanted : 0;
  };
  do {
    creation_.round(wanted, [this](const PodCreationQueue::Ticket& ticket, int32_t count) {
      create_batch(ticket.job, count);
    });
  } while (!creation_.is_empty() && params_.pod_creation_interval == Duration{});
  is_creating_ = !creation_.is_empty();
  if (!is_creating_) return;
  sim_.engine.after(
      params_.pod_creation_interval, Label{"jobs.create_pods"}, [this] { create_round(); },
      Phase::Control);
}

void JobController::create_batch(JobId id, int32_t count) {
  const Job& job = jobs_.job(id);
  JobState& state = states_[id];
  batch_.clear();
  for (; count > 0; ++state.create_from) {
    const PodId pod_id{job.first_pod.index + static_cast<uint32_t>(state.create_from)};
    PodRun& run = runs_[pod_id];
    if (!run.is_wanted) continue;
    run.is_wanted = false;
    batch_.push_back(pod_id);
    --count;
  }
  state.wanted -= static_cast<int32_t>(batch_.size());
  if (state.wanted == 0) state.is_queued = false;
  if (api_ == nullptr) {
    for (const PodId pod : batch_) appear(pod);
    pods_created.emit(batch_);
    return;
  }
  // What is done at once may change the batch.
  for (const PodId pod : std::vector<PodId>{batch_}) create(pod);
}

void JobController::create(PodId id) {
  runs_[id].is_on_its_way = true;
  const uint64_t generation = jobs_.pod(id).generation;
  api_->create(id, [this, id, generation](bool is_done) { created(id, generation, is_done); });
}

// Unless its job is over, or the pod is not missing any more.
void JobController::created(PodId id, uint64_t generation, bool is_done) {
  if (jobs_.pod(id).generation != generation) return;
  runs_[id].is_on_its_way = false;
  if (!is_done) {  // the controller comes back to it
    ORRERY_MARK("jobs.pod_not_created");
    want_pod(id);
    return queue_creation(jobs_.pod(id).job);
  }
  appear(id);
  pods_created.emit({&id, 1});
}

// The pod is Pending; nobody was told yet.
void JobController::appear(PodId id) {
  Pod& pod = jobs_.pod(id);
  JobState& state = states_[pod.job];
  const Time now = sim_.engine.now();
  pod.state = PodState::Pending;
  pod.created = now;
  pod.bound = pod.started = kNever;
  pod.attempts = 0;
  ++pod.generation;
  if (pod.gang.is_valid()) ++jobs_.gang(pod.gang).created;
  if (RecoveryRow* const row = recoveries_.find(runs_[id].run.recovery)) row->recreated = now;
  if (state.wanted == 0 && jobs_.job(pod.job).phase == JobPhase::Pending) {
    if (RecoveryRow* const row = recoveries_.find(state.run.recovery)) row->recreated = now;
  }
  if (state.first_created == kNever) state.first_created = now;
  ++counters_.pods_created;
}

// ---- phases and end

void JobController::set_phase(JobId id, JobPhase phase) {
  Job& job = jobs_.job(id);
  const JobPhase before = job.phase;
  if (before == phase) return;
  ORRERY_CHECK((kMoves[static_cast<size_t>(before)] & bit(phase)) != 0,
               "a job moves along the arrows of its life");
  job.phase = phase;
  if (phase == JobPhase::Running && states_[id].first_running == kNever) {
    states_[id].first_running = sim_.engine.now();
  }
  phase_changed.emit(id, before, phase);
}

void JobController::end_job(JobId id, JobPhase phase) {
  const Job& job = jobs_.job(id);
  JobState& state = states_[id];
  const Time now = sim_.engine.now();
  remove_pods(id, phase == JobPhase::Completed ? PodEnd::Completed : PodEnd::JobFailed);
  sim_.engine.cancel(state.event);
  drop_checkpoint(id);
  recoveries_.close(state.run.recovery, now);
  JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId pod) {
    recoveries_.close(runs_[pod].run.recovery, now);
    runs_[pod].is_wanted = runs_[pod].is_on_its_way = false;
    ++jobs_.pod(pod).generation;  // nothing that waits for a later life of it may find it
  });
  set_phase(id, phase);
  const bool is_completed = phase == JobPhase::Completed;
  ++(is_completed ? counters_.completed : counters_.failed);
  write_job_row(id, is_completed ? JobOutcome::Completed : JobOutcome::Failed, now);
  if (job.is_counted()) hold_counted(id, 0);
  job_over.emit(id);
  jobs_.remove(id);
}

}  // namespace orrery
